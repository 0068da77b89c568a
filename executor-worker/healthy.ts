import { isAlive } from '@hotcell/outside/alive.ts';

process.exitCode = isAlive('executor-worker') ? 0 : 1;
