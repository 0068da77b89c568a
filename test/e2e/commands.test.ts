import { after, before } from 'node:test';
import { CommandWorld } from './command-world.ts';
import { testHandles } from './handle-commands.ts';
import { testRecord } from './record-commands.ts';
import { testRunning } from './run-commands.ts';

/** One set of services and a worker with real cells for all commands. */
let world: CommandWorld;
before(async () => {
  world = await CommandWorld.open();
});
after(() => world[Symbol.asyncDispose]());

testRunning(() => world);
testHandles(() => world);
testRecord(() => world);
