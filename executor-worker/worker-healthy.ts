import { isAlive } from '@hotcell/outside/process/alive.ts';

process.exitCode = isAlive('executor-worker') ? 0 : 1;
