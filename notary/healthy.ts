import { isAlive } from '@hotcell/outside/alive.ts';

process.exitCode = isAlive('notary') ? 0 : 1;
