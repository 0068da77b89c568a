import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { openOffline } from '@hotcell/record/verify/opened-record.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { exportOf, exportSigner, putExecuted, writeTar } from '../../../support/exported-run.ts';
import { listKeys, Memory, root } from '../../../support/signed-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-export-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const record = new Memory();
listKeys(record, exportSigner.listed);
const one = await putExecuted(record);
const other = await putExecuted(record, { team: 'finance' });
const whole = await exportOf(record, [one, other]);

interface Said {
  runs: Map<string, RunVerdict>;
  beside: Finding[];
}

async function verified(path: string, contents = true): Promise<Said> {
  await using opened = await openOffline(path);
  const { reader } = opened;
  const trusted = await trustedKeys(reader, [root.public]);
  const runs = new Map<string, RunVerdict>();
  const of = verificationBy(reader, trusted, contents);
  const tell = (said: RunVerdict) => runs.set(said.run, said);
  await verifyAll(of, opened.runs(), tell, async (some, at) => opened.verify(some, at));
  return { runs, beside: await opened.judgeFrame(trusted) };
}

const archive = join(folder, 'export.tar');
async function afterwards(change: (files: Memory) => void, files = whole, contents = true): Promise<Said> {
  const copy = new Memory(files);
  change(copy);
  await writeTar(archive, copy);
  return await verified(archive, contents);
}
/** No cell executed these runs, and a verifier says so in any case: what counts is what it says more of a changed one. */
const plain = await afterwards(() => undefined);
const saidOf = ({ runs }: Said) => [one, other].map(({ run }) => runs.get(run)?.findings);
const touched = (said: Said) =>
  saidOf(said).map((findings, i) => JSON.stringify(findings) !== JSON.stringify(saidOf(plain)[i]));
const isNamed = (said: Said, path: string) =>
  [...said.beside, ...[...said.runs.values()].flatMap(({ findings }) => findings)].some(({ object }) =>
    object.includes(path),
  );

describe('an export', () => {
  test('says the same as an archive and unpacked, and nothing of its files but that no cell executed its runs', async () => {
    const said = await afterwards(() => undefined);
    for (const findings of saidOf(said))
      for (const { verdict, object } of findings ?? [])
        assert.deepEqual([verdict, object.split(': ')[0]?.split('/').at(-1)], ['INCONSISTENT', 'committed.json']);
    assert.deepEqual(said.beside, []);
    const unpacked = join(folder, 'unpacked');
    for (const [path, bytes] of whole) {
      mkdirSync(dirname(join(unpacked, path)), { recursive: true });
      writeFileSync(join(unpacked, path), bytes);
    }
    assert.deepEqual(await verified(unpacked), said);
  });

  test('says the same without the bytes of inputs and outputs, and has none of them', async () => {
    const files = await exportOf(record, [one, other], { inputs: false, outputs: false });
    assert.deepEqual(
      [...files.keys()].filter((path) => path.startsWith('cas/') || path.includes('/outputs/')),
      [],
    );
    assert.deepEqual(touched(await afterwards(() => undefined, files)), [false, false]);
  });

  for (const path of whole.keys())
    if (path !== 'export.json' && path !== 'keys/list.json' && !path.includes('/record/'))
      test(`shows that ${path
        .replaceAll(one.run, 'ONE')
        .replaceAll(other.run, 'OTHER')
        .replaceAll(/[0-9a-f]{60,}/g, 'HEX')} was changed or removed`, async () => {
        const isShared = !path.startsWith('runs/');
        const expected = [one, other].map(({ run }) => isShared || path.includes(run));
        const flipped = (files: Memory) => {
          const bytes = Buffer.from(files.get(path) ?? '');
          files.set(path, bytes.length === 0 ? Buffer.from('x') : bytes.fill((bytes[0] ?? 0) ^ 1, 0, 1));
        };
        for (const change of [flipped, (files: Memory) => void files.delete(path)]) {
          const said = await afterwards(change);
          // A key that is not there deceives no other tool.
          const which = path.startsWith('keys/') ? [false, false] : expected;
          assert.deepEqual(touched(said), which, JSON.stringify([...said.runs.values()]));
          if (change === flipped) assert.ok(isNamed(said, path), JSON.stringify(said.runs.get(one.run)));
        }
      });

  test('shows a file that nothing vouches for, wherever it lies', async () => {
    for (const path of [
      'README',
      `runs/${one.run}/code/1.sh`,
      `runs/${one.run}/outputs/more`,
      'runs/x/result.json',
      'keys/worker-x.pem',
    ]) {
      const said = await afterwards((files) => files.set(path, Buffer.from('x')));
      assert.ok(isNamed(said, path), path);
    }
  });

  test('shows changed outputs only to a verifier who wants their bytes', async () => {
    const change = (files: Memory) => void files.set(`runs/${one.run}/outputs/c`, Buffer.from('d'));
    assert.deepEqual(touched(await afterwards(change)), [true, false]);
    assert.deepEqual(touched(await afterwards(change, whole, false)), [false, false]);
  });

  test('shows a run that is named and is not there, and one that is there under another’s name', async () => {
    const gone = await afterwards((files) => {
      for (const path of files.keys()) if (path.includes(one.run)) files.delete(path);
    });
    assert.deepEqual([gone.runs.get(one.run)?.verdict, touched(gone)[1]], ['MISSING', false]);
    const swapped = await afterwards((files) => {
      for (const name of ['committed.json', 'result.json', 'evidence.sigstore.json'])
        files.set(`runs/${one.run}/${name}`, whole.get(`runs/${other.run}/${name}`) ?? Buffer.alloc(0));
    });
    assert.deepEqual([swapped.runs.get(one.run)?.verdict, touched(swapped)[1]], ['MODIFIED', false]);
  });

  test('is verified to its end where the result of one run is larger than any that is parsed', async () => {
    const committed = `runs/${one.run}/committed.json`;
    const said = await afterwards((files) => void files.set(committed, Buffer.alloc(256 * 2 ** 20 + 1)));
    const { verdict, findings = [] } = said.runs.get(one.run) ?? {};
    assert.deepEqual([verdict, findings[0]?.object, touched(said)[1]], ['MODIFIED', committed, false]);
  });

  test('unpacked beside another has the runs of both', async () => {
    const [first, second] = [await exportOf(record, [one]), await exportOf(record, [other])];
    const both = new Memory([...first, ...second]);
    assert.deepEqual(touched(await afterwards(() => undefined, both)), [false, false]);
  });
});
