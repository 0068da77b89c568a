import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Job } from '@hotcell/executor-worker/execute/job.ts';
import type { Mount } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { InputCache } from '@hotcell/executor-worker/inputs/cache.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import { must } from '@hotcell/setup/command.ts';
import {
  ensureFlaggedView,
  hasFlaggedView,
  removeFlaggedView,
  stagedInputs,
} from '@hotcell/setup/services/flagged-view.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells, runIn, type TestCells } from '../support/cells.ts';
import { contentsAs, freezeTree, openCache, staged } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';

/**
 * What staged inputs are inside a cell; each look is also taken in a container that was given them carelessly.
 */
let bed: Bed;
let house: House;
let cells: TestCells;
let contents: Contents;
let inputs: InputCache;
let folder: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  cells = await openTestCells(bed, 'inputs', bed.id(), { dockerHost: engineSocket });
  contents = await contentsAs(house, 'worker');
  // As `up` does it: the cache lies below a mount that takes away what inputs never need.
  await mkdir(stagedInputs(bed.installation), { recursive: true });
  await ensureFlaggedView(bed.installation);
  folder = join(stagedInputs(bed.installation), `test-${house.id}`);
  inputs = await openCache(bed, contents, 2 ** 30, folder);
});
after(async () => {
  await inputs?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
  await removeFlaggedView(bed.installation);
  await contents?.[Symbol.asyncDispose]();
  await cells?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** Looks at /inputs and at a folder of the host, and prints what it sees. */
const look = String.raw`
import errno, json, os, stat, sys
place = sys.argv[1] if len(sys.argv) > 1 else open('/inputs/in/place').read()
def tried(action):
    try:
        action()
        return 'ok'
    except OSError as error:
        return errno.errorcode.get(error.errno, '?')
def flags(path):
    f = os.statvfs(path).f_flag
    return [n for n, bit in (('ro', 1), ('nosuid', 2), ('nodev', 4), ('noexec', 8)) if f & bit]
files, odd, owners, ages, writable = {}, [], set(), set(), []
for root, folders, names in os.walk('/inputs'):
    for one in folders + names:
        path = os.path.join(root, one)
        s = os.lstat(path)
        owners.add(s.st_uid)
        ages.add(int(s.st_mtime))
        if s.st_mode & 0o7222: writable.append(path)
        if stat.S_ISREG(s.st_mode): files[path] = open(path).read()
        elif not stat.S_ISDIR(s.st_mode): odd.append(path)
def add(path):
    open(path, 'w').close()
    os.unlink(path)
mountinfo = {l.split()[4]: l.split()[5].split(',') for l in open('/proc/self/mountinfo')}
print(json.dumps({
    'top': sorted(os.listdir('/inputs')), 'files': files, 'odd': odd, 'owners': sorted(owners), 'ages': sorted(ages), 'writable': writable,
    'add': tried(lambda: add('/inputs/new')), 'addIn': tried(lambda: add('/inputs/in/new')),
    'write': tried(lambda: open('/inputs/in/a.csv', 'a').close()),
    'chmod': tried(lambda: os.chmod('/inputs/in/a.csv', 0o644)),
    'unlink': tried(lambda: os.unlink('/inputs/in/a.csv')),
    'rename': tried(lambda: os.rename('/inputs/in/a.csv', '/inputs/in/b.csv')),
    'flags': {p: sorted(set(flags(p)) | {f for f in mountinfo.get(p, []) if f in ('ro','nosuid','nodev','noexec')})
              for p in ('/inputs', '/inputs/in', '/inputs/other')},
    'others': tried(lambda: os.listdir(place)),
}))
`;

interface Seen {
  top: string[];
  files: Record<string, string>;
  odd: string[];
  owners: number[];
  ages: number[];
  writable: string[];
  add: string;
  addIn: string;
  write: string;
  chmod: string;
  unlink: string;
  rename: string;
  flags: Record<string, string[]>;
  others: string;
}

const seenIn = (said: string) => JSON.parse(said.trim().split('\n').at(-1) ?? '') as Seen;

const lookJob: Job = {
  files: [],
  blocks: [
    {
      index: 0,
      block: { language: 'python', code: look },
      language: 'python',
      file: 'look.py',
      code: Buffer.from(look),
      argv: ['python3', 'look.py'],
    },
  ],
};

async function inCell(runtime: 'runc' | 'gvisor', mounts: readonly Mount[]): Promise<Seen> {
  const { logs } = await runIn(cells.cells, cells.plan(runtime, { mounts }), lookJob);
  return seenIn(logs[0] ?? '');
}

/** The same look in a careless container: a writable folder with a socket in it, and another tenant's folder. */
async function carelessly(runtime: 'runc' | 'gvisor', place: string): Promise<Seen> {
  const root = await bed.shortFolder();
  for (const name of ['in', 'other']) await mkdir(join(root, name));
  await writeFile(join(root, 'in/a.csv'), '1');
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(root, 'in/socket'), resolve);
  });
  try {
    const labels = [`hotcell.managed=1`, `hotcell.installation=${bed.installation.id}`, 'hotcell.role=test'];
    const said = await must([
      'docker',
      ...['run', '--rm', '--network', 'none', '--runtime', runtime === 'gvisor' ? 'runsc' : 'runc'],
      ...labels.flatMap((label) => ['--label', label]),
      ...['--volume', `${root}:/inputs`, '--volume', `${place}:${place}:ro`],
      ...['--entrypoint', 'python3', bed.images.python.digest, '-c', look, place],
    ]);
    return seenIn(said);
  } finally {
    server.close();
  }
}

const refused = ['EROFS', 'EACCES', 'EPERM'];

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`on ${runtime}`, () => {
    let sealed: Seen;
    let careless: Seen;
    before(async () => {
      const [tenant, stranger] = [bed.tenant(), bed.tenant()];
      const theirs = await freezeTree(house, stranger, { secret: 'theirs' });
      await using other = await staged(house, inputs, stranger, { in: theirs });
      const place = other.mounts[1]?.source ?? '';
      const one = await freezeTree(house, tenant, { 'a.csv': '1', 'deep/er/b.csv': '2', place });
      const two = await freezeTree(house, tenant, { 'ümlaut ☃.txt': '3' });
      await using there = await staged(house, inputs, tenant, { in: one, other: two }, { params: { day: 7 } });
      sealed = await inCell(runtime, there.mounts);
      careless = await carelessly(runtime, place);
      // Tells the look where the other tenant's inputs are.
      delete sealed.files['/inputs/in/place'];
    });

    test('a cell has only its inputs and parameters, all owned by root, and no sockets', () => {
      assert.deepEqual(sealed.top, ['in', 'other', 'params.json']);
      assert.deepEqual(sealed.files, {
        '/inputs/in/a.csv': '1',
        '/inputs/in/deep/er/b.csv': '2',
        '/inputs/other/ümlaut ☃.txt': '3',
        '/inputs/params.json': '{"day":7}',
      });
      assert.deepEqual(sealed.odd, []);
      assert.deepEqual(sealed.owners, [process.getuid?.() ?? 0]);
      assert.deepEqual(sealed.ages, [315532800]);
      assert.deepEqual(careless.odd, ['/inputs/in/socket']);
    });

    test('inputs cannot be written, removed or added to', () => {
      assert.deepEqual(sealed.writable, []);
      assert.notDeepEqual(careless.writable, []);
      for (const what of ['add', 'addIn', 'write', 'chmod', 'unlink', 'rename'] as const) {
        assert.ok(refused.includes(sealed[what]), `${what}: ${sealed[what]}`);
        assert.equal(careless[what], what === 'rename' ? 'ENOENT' : 'ok', what);
      }
    });

    test('inputs are read-only, and below a flagged mount also nosuid, nodev and noexec', async () => {
      const view = await hasFlaggedView(bed.installation);
      for (const [path, flags] of Object.entries(sealed.flags)) {
        assert.ok(flags.includes('ro'), `${path}: ${flags.join()}`);
        if (view && runtime === 'runc') assert.deepEqual(flags, ['nodev', 'noexec', 'nosuid', 'ro'], path);
      }
      assert.deepEqual(careless.flags['/inputs'], []);
    });

    test('a cell sees nothing where another tenant’s inputs are on the host', () => {
      assert.equal(sealed.others, 'ENOENT');
      assert.equal(careless.others, 'ok');
    });
  });
