import { isAlive } from '@hotcell/outside/process/alive.ts';

process.exitCode = isAlive('notary') ? 0 : 1;
