import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * In a keeper's container: nothing but `crun run` of a cell's own bundle with another program, from its start to its end.
 * Prints the milliseconds of each round, and the processor time of each run.
 */
const [bundle = '', root = '', cgroup = '', rounds = '1', parallel = '1', ...program] = process.argv.slice(1);
const config = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'));
const folder = `/tmp/bare-${parallel}`;
const state = `${folder}/state`;
mkdirSync(state, { recursive: true });

async function run(name: string): Promise<void> {
  const own = join(folder, name);
  mkdirSync(own);
  const { process: of, linux, mounts, ...rest } = config;
  // Its cgroups come and go with it, as crun makes them.
  const shown = mounts.filter(({ destination }: { destination: string }) => !destination.startsWith('/sys/fs/cgroup'));
  const bare = {
    ...rest,
    mounts: shown,
    root: { ...rest.root, path: root },
    process: { ...of, args: program, env: ['PATH=/usr/bin:/bin'] },
    linux: { ...linux, cgroupsPath: `${cgroup}/${name}` },
  };
  writeFileSync(join(own, 'config.json'), JSON.stringify(bare));
  const child = spawn('crun', ['--root', state, 'run', '--bundle', own, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || said !== 'hello\n') throw new Error(`crun ended with ${code} and said ${JSON.stringify(said)}`);
  rmSync(own, { recursive: true });
}

const childrenMs = () => {
  const after = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13, 15) ?? [];
  return after.map(Number).reduce((sum, ticks) => sum + ticks, 0) * 10;
};
const together = (round: string) =>
  Promise.all(Array.from({ length: Number(parallel) }, (_, n) => run(`bare-${parallel}-${round}-${n}`)));
await together('first');
const before = childrenMs();
const times: number[] = [];
for (let n = 0; n < Number(rounds); n++) {
  const since = performance.now();
  await together(String(n));
  times.push((performance.now() - since) / Number(parallel));
}
const cpu = (childrenMs() - before) / (Number(rounds) * Number(parallel));
process.stdout.write(JSON.stringify({ times, cpu }));
rmSync(folder, { recursive: true });
