import { once } from 'node:events';
import { setInterval as every } from 'node:timers/promises';
import { readKeeperSettings } from './keeper-config.ts';
import { openKeeper } from './open-keeper.ts';
import { serve } from './answer.ts';

const sweepMs = 10_000;

const settings = readKeeperSettings(process.env);
const keeper = openKeeper(settings);
await keeper.sweep();
const server = await serve(keeper, settings.HOTCELL_KEEPER_SOCKET);
const { runtimes } = keeper.parts;
const names = Object.values(runtimes).map(({ name, version }) => `${name} ${version}`);
process.stderr.write(`${JSON.stringify({ msg: 'keeping cells', runtimes: names, cells: keeper.list().length })}\n`);

const ends = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    // Cells go on: the next keeper finds them.
    server.close();
    ends.abort();
  });
void (async () => {
  for await (const _ of every(sweepMs, undefined, { signal: ends.signal, ref: false })) await keeper.sweep();
})().catch(() => {
  // Asked to end.
});
await once(ends.signal, 'abort');
process.exit();
