import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bundleFromJSON, type SerializedBundle } from '@sigstore/bundle';
import { toSignedEntity, Verifier } from '@sigstore/verify';
import { writeExport } from '@hotcell/cli/evidence/write-export.ts';
import { verifyExport } from '@hotcell/cli/evidence/verify-export.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { Statement } from '@hotcell/contract/evidence/statement.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { cosignFolder } from '../support/cosign.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { pythonTools } from '../support/python-client.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** An export of two runs, unpacked in a folder with the root's key, as an auditor has it: no service is asked for anything. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let unpacked: string;
let archives: string[];

const code = 'print(open("/inputs/in/data.csv").read())\nopen("/outputs/é.csv", "w").write("x,y\\n1,2\\n")';

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one');
  const client = await producer.client('submitter');
  const source = { blocks: [{ language: 'python', code: 'open("/outputs/data.csv", "w").write("a,b\\n")' }] };
  const first = await (await client.submit(source)).result();
  const request = { blocks: [{ language: 'python', code }], inputs: { in: `${first.run}:outputs` } };
  const second = await (await client.submit({ ...request, files: [{ path: 'lib/a.py', text: '#' }] })).result();
  const { store, signing, tenant } = house;
  const folder = await bed.folder('export');
  const trusted = await trustedKeys(new StoreReader(store), [signing.root.public]);
  archives = ['one.tar', 'two.tar'].map((name) => join(folder, name));
  for (const archive of archives) {
    await using tar = await TarWriter.create(archive);
    const of = { store, trusted, contents: { inputs: true, outputs: true } };
    await writeExport(of, each([first, second].map(({ run }) => ({ tenant, run }))), tar);
    await tar.finish();
  }
  unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  await must(['tar', '--extract', '--file', archives[0] ?? '', '--directory', unpacked]);
  await writeFile(join(unpacked, 'root.pem'), signing.root.public.pem);
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const runFolders = async (of: string) => (await readdir(join(of, 'runs'))).map((run) => join(of, 'runs', run));

/** A program of VERIFY.md, in the export or a changed copy of it. */
async function followed(kind: string, folder: string, path: string): Promise<number | null> {
  const guide = await readFile(join(folder, 'VERIFY.md'), 'utf8');
  const blocks = guide.split('```').filter((_, i) => i % 2 === 1);
  const named = blocks.filter((block) => block.startsWith(`${kind}\n`)).map((block) => block.slice(kind.length + 1));
  assert.notEqual(named.length, 0, `VERIFY.md has commands of the kind ${kind}`);
  const program = kind === 'python' ? ['python3', '-c', named.join('\n')] : ['sh', '-euc', named.join('\n')];
  const { code, stderr } = await command(['env', '-C', folder, `PATH=${path}:${process.env['PATH']}`, ...program]);
  if (code !== 0) process.stderr.write(stderr);
  return code;
}

/** What is changed in the export of a run, byte by byte: one of its files, or a part of its bundle in base64. */
const places: Readonly<Record<string, (run: string, at: number) => Promise<void>>> = {
  payload: (run, at) => inBundle(run, (bundle) => bundle.dsseEnvelope, 'payload', at),
  signature: (run, at) => inBundle(run, (bundle) => bundle.dsseEnvelope.signatures[0], 'sig', at),
  'result.json': async (run, at) => {
    const path = join(run, 'result.json');
    await writeFile(path, flip(await readFile(path), at));
  },
};

interface ShownBundle {
  dsseEnvelope: { payload: string; signatures: [{ sig: string }] };
}

async function inBundle<N extends string>(
  run: string,
  part: (bundle: ShownBundle) => Record<N, string>,
  name: N,
  at: number,
): Promise<void> {
  const path = join(run, 'evidence.sigstore.json');
  const bundle = JSON.parse(await readFile(path, 'utf8')) as ShownBundle;
  const of = part(bundle);
  Object.assign(of, { [name]: flip(Buffer.from(of[name], 'base64'), at).toString('base64') });
  await writeFile(path, JSON.stringify(bundle));
}

function flip(bytes: Buffer, at: number): Buffer {
  const where = at % bytes.length;
  return Buffer.from(bytes).fill((bytes[where] ?? 0) ^ 1, where, where + 1);
}

/** Copies of the export, each with one byte changed: primes reach other parts of each file. */
async function* changed(count: number): AsyncGenerator<[what: string, folder: string]> {
  const copies = await bed.folder('changed');
  for (const [what, change] of Object.entries(places))
    for (let at = 5, i = 0; i < count; i++, at = at * 7 + 3) {
      const folder = join(copies, `${what}-${at}`);
      await cp(unpacked, folder, { recursive: true });
      const [, run = ''] = await runFolders(folder);
      await change(run, at);
      yield [`${what} at ${at}`, folder];
    }
}

test('an export of the store is the same twice, and all of it verifies', async () => {
  const [one = '', two = ''] = archives;
  assert.ok((await readFile(one)).equals(await readFile(two)));
  const summary = await verifyExport(one, [house.signing.root.public]);
  assert.ok(summary.isAllValid, summary.text);
});

test('OpenSSL, by the commands of VERIFY.md, accepts the export and rejects each change', async () => {
  assert.equal(await followed('sh', unpacked, ''), 0);
  for await (const [what, folder] of changed(3)) assert.notEqual(await followed('sh', folder, ''), 0, what);
  const keyed = join(await bed.folder('keyed'), 'export');
  await cp(unpacked, keyed, { recursive: true });
  const [pem = ''] = (await readdir(join(keyed, 'keys'))).filter((name) => name.endsWith('.pem'));
  await copyFile(join(keyed, 'root.pem'), join(keyed, 'keys', pem));
  assert.notEqual(await followed('sh', keyed, ''), 0, 'another key under the name of one on the list');
});

test('cosign, by the command of VERIFY.md, accepts the export and rejects each change', async () => {
  const path = await cosignFolder(bed);
  assert.equal(await followed('sh cosign', unpacked, path), 0);
  for await (const [what, folder] of changed(3)) assert.notEqual(await followed('sh cosign', folder, path), 0, what);
});

test('@sigstore/verify accepts each bundle and rejects it with any byte changed', async () => {
  const pems = await readdir(join(unpacked, 'keys'));
  const keys = await Promise.all(
    pems.map(async (name) => [name, await readFile(join(unpacked, 'keys', name))] as const),
  );
  const publicKey = (hint: string) => {
    const [, pem] = keys.find(([name]) => name.endsWith(`-${hint.slice('sha256:'.length)}.pem`)) ?? [];
    assert.ok(pem, hint);
    return { publicKey: createPublicKey(pem), validFor: () => true };
  };
  const trust = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [], publicKey };
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  const verify = (bundle: SerializedBundle) => verifier.verify(toSignedEntity(bundleFromJSON(bundle)));
  for (const [i, run] of (await runFolders(unpacked)).entries()) {
    const bundle = JSON.parse(await readFile(join(run, 'evidence.sigstore.json'), 'utf8')) as SerializedBundle;
    verify(bundle);
    const envelope = bundle.dsseEnvelope;
    assert.ok(envelope);
    const [signature] = envelope.signatures;
    assert.ok(signature);
    for (const [of, name] of [
      [envelope, 'payload'],
      [signature, 'sig'],
    ] as const) {
      const text = Reflect.get(of, name) as string;
      const bytes = Buffer.from(text, 'base64');
      // All bytes of one bundle: others are of the same form.
      for (let at = 0; at < bytes.length && i === 0; at++) {
        Reflect.set(of, name, flip(bytes, at).toString('base64'));
        assert.throws(() => verify(bundle), Error, `${name}, byte ${at}`);
      }
      Reflect.set(of, name, text);
    }
    verify(bundle);
    // It does not compare what the statement is about: that is its caller's part.
    const statement = Statement.parse(JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8')));
    const digests = statement.subject.map(({ digest }) => `sha256:${digest.sha256}`);
    const files = ['result.json', 'outputs.manifest.json'].map((name) => readFile(join(run, name)));
    assert.deepEqual(
      (await Promise.all(files)).map((one) => sha256(one)),
      digests,
    );
  }
});

test('securesystemslib accepts each bundle and rejects each changed byte, and in-toto’s own forms fit the statements', async () => {
  const python = join(await pythonTools(bed, 'evidence'), 'bin');
  assert.equal(await followed('python', unpacked, python), 0);
  const script = join(checkout, 'test/python/evidence/check_evidence.py');
  const said = await must([join(python, 'python'), script, unpacked]);
  const { bundles, flips } = JSON.parse(said) as { bundles: number; flips: number };
  assert.equal(bundles, 2);
  assert.ok(flips > 3000, `${flips} bytes`);
});
