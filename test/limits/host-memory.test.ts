import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openBentEngine } from '../support/bent-engine.ts';
import { mib, openRuns, python, type Runs } from './support/runs.ts';

const root = '/sys/fs/cgroup';
const version1 = existsSync(join(root, 'memory'));
/** The cgroup driver of systemd takes only names of slices, the other one only paths from the root. */
const driver = (await must(['docker', 'info', '--format', '{{.CgroupDriver}}'])).trim();
const name = process.pid.toString(36).padStart(4, '0').slice(-4);
const parent = driver === 'systemd' ? `t${name}.slice` : `/cells-${name}`;
const asked = '"UTSMode":"","UsernsMode":""';
const named = `"CgroupParent":"${parent}"`.padEnd(asked.length);
const hidden = '"CgroupParent":""'.padEnd(named.length);

let bed: Bed;
let runs: Runs;
let engine: AsyncDisposable;
before(async () => {
  bed = await openBed();
  const path = join(await bed.shortFolder(), 's');
  engine = await openBentEngine(path, asked, named, { told: named, instead: hidden });
  runs = await openRuns(bed, 'host-memory', { dockerHost: path });
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await engine?.[Symbol.asyncDispose]();
  for (const controller of version1 ? await readdir(root) : ['.'])
    await rmdir(join(root, controller, parent)).catch(() => undefined);
  await bed?.[Symbol.asyncDispose]();
});

/** The cells’ common parent may hold less than one of them: so a machine runs out of memory for one cell. */
async function bound(bytes: number): Promise<void> {
  const file = version1 ? join(root, 'memory', parent, 'memory.limit_in_bytes') : join(root, parent, 'memory.max');
  await writeFile(file, String(bytes));
}

const take = (bytes: number) => `held = [bytearray(b"x" * (4 << 20)) for _ in range(${bytes / (4 * mib)})]`;
const limits = { memoryBytes: 256 * mib };

test('a run that the kernel kills for lack of memory on its host is the platform’s failure, not out of memory', async () => {
  const ran = runs.run('runc', { blocks: python(take(160 * mib)), limits, beside: () => bound(96 * mib) });
  await assert.rejects(ran, { code: 'cell_failed', message: /for the host's lack of memory: .* own limit of 256 MiB/ });
});

test('a run that takes more than its own limit there is out of memory', async () => {
  const ran = await runs.run('runc', { blocks: python(take(400 * mib)), limits, beside: () => bound(1024 * mib) });
  assert.equal(ran.verdict.outcome, 'out_of_memory');
});
