import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/output-collector.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { decodeName } from '../support/decode-name.ts';
import { until } from '../support/until.ts';
import { naiveOutputs } from './support/naive.ts';
import { mib, openRuns, python, type Ran, runtimes, type Runs, smallLimits } from './support/runs.ts';
import { startWeak, type Weak } from './support/weak.ts';

/** Everything that a folder of outputs can do to who takes it. SECRET is a path that the host can read. */
const zoo = (secret: string) => `
import io, os, socket, tarfile
os.chdir("/outputs")
os.symlink(${JSON.stringify(secret)}, "link")
open("one", "w").write("x"); os.link("one", "two")
os.mkfifo("fifo")
s = socket.socket(socket.AF_UNIX); s.bind("socket")
for size in (1 << 50, 1 << 40, 6 << 20):
    try:
        with open("sparse", "wb") as f: f.truncate(size)
        break
    except OSError: pass
for name in (b"new\\nline", b"\\x1b]0;title\\x07", "txt.\\u202egnp".encode(), b"\\xfe", b"\\xff"):
    open(name, "w").write(repr(name))
for name, mode in (("tool", 0o6777), ("same", 0o600)):
    open(name, "w").write("#!/bin/sh\\n"); os.chmod(name, mode)
evil = tarfile.TarInfo("harmless"); evil.size = 4; evil.pax_headers = {"path": "../evil"}
with tarfile.open("archive.tar", "w", format=tarfile.PAX_FORMAT) as t: t.addfile(evil, io.BytesIO(b"evil"))
deep = "/".join(["d"] * 40); os.makedirs(deep); open(deep + "/bottom", "w").write("x")
open("page.html", "w").write("<script>1</script>")
`;

/** Looks harmless to who looks, and is something else to who then reads, again and again, from a process left behind. */
const swapping = (secret: string) => `
import os, time
open("/outputs/mine", "w").write("mine"); os.symlink(${JSON.stringify(secret)}, "/outputs/theirs")
if os.fork() == 0:
    os.setsid()
    while True:
        for what in ("theirs", "mine"):
            try: os.unlink("/outputs/swap.new")
            except FileNotFoundError: pass
            if what == "mine": os.link("/outputs/mine", "/outputs/swap.new")
            else: os.symlink(${JSON.stringify(secret)}, "/outputs/swap.new")
            os.rename("/outputs/swap.new", "/outputs/swap")
while not os.path.lexists("/outputs/swap"): time.sleep(0.01)
`;

let bed: Bed;
let runs: Runs;
let secret: string;
let weak: Weak;
let naive: Map<string, Buffer>;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'outputs');
  secret = join(await bed.folder('secret'), 'secret');
  writeFileSync(secret, 'a secret of the host');
  // The one who takes them is the host, whatever ran the program: once is enough.
  weak = await startWeak(bed, 'runc', { zoo: zoo(secret) });
  await weak.said();
  naive = await naiveOutputs(weak.outputs, ['fifo', 'socket']);
});
after(async () => {
  await weak?.[Symbol.asyncDispose]();
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of runtimes)
  suite(`outputs of a cell on ${runtime}`, () => {
    let ran: Ran;
    const reasonFor = (path: string) => ran.outputs.refused.find((one) => one.path === path)?.reason;
    const fileAt = (path: string) => ran.outputs.files.find((one) => one.path === path);
    before(async () => {
      ran = await runs.run(runtime, { blocks: python(zoo(secret)) });
    });

    test('are regular files of one name, stored as the digests say, and nothing else', async () => {
      assert.deepEqual(
        ran.outputs.files.map(({ path }) => path),
        ['archive.tar', 'page.html', 'same', 'tool'],
      );
      for (const { path, size, sha256: digest } of ran.outputs.files) {
        const stored = await runs.store.getBytes(runs.store.record, recordKeys.cas(ran.tenant, digest));
        assert.ok(stored, path);
        assert.deepEqual([sha256(stored), stored.length], [digest, size]);
      }
    });

    test('follow no link to what the host can read, as who reads by paths does (72)', () => {
      assert.equal(reasonFor('link'), 'it is a symbolic link');
      assert.equal(naive.get('link')?.toString(), 'a secret of the host');
    });

    test('have one name each, or are refused (73)', () => {
      assert.match(`${reasonFor('one')} ${reasonFor('two')}`, /hard links.*hard links/);
      assert.deepEqual([naive.get('one')?.toString(), naive.get('two')?.toString()], ['x', 'x']);
    });

    test('are not waited for at a fifo or a socket, as who opens them does (74)', async () => {
      assert.deepEqual([reasonFor('fifo'), reasonFor('socket')], ['it is a fifo', 'it is a socket']);
      const waiting = readFile(join(weak.outputs, 'fifo'), 'utf8');
      const fifo = await open(join(weak.outputs, 'fifo'), 'w');
      await fifo.write('said by somebody else');
      await fifo.close();
      assert.equal(await waiting, 'said by somebody else');
    });

    test('count by what they seem to have, and end the run as that (76)', () => {
      assert.equal(reasonFor('sparse'), 'it is past the limit of output bytes');
      assert.equal(ran.verdict.outcome, 'output_exceeded');
      assert.match(ran.verdict.reason, /limit of 4 MiB/);
      assert.ok(statSync(join(weak.outputs, 'sparse')).size >= 2 ** 40, 'the naive one has a tebibyte to read');
    });

    test('end where folders get too deep (77)', () => {
      const tooDeep = ran.outputs.refused.filter(({ reason }) => reason === 'it lies too deep in folders');
      assert.equal(tooDeep.length, 1);
      assert.ok(existsSync(join(weak.outputs, ...Array<string>(40).fill('d'), 'bottom')));
    });

    test('with names that are none are told apart, and commands in them are none (79)', () => {
      const names = ran.outputs.refused.flatMap(({ path, reason }) => (reason.startsWith('its name') ? [path] : []));
      assert.deepEqual(names.toSorted(), ['%1B]0;title%07', '%FE', '%FF', 'new%0Aline', 'txt.%E2%80%AEgnp']);
      assert.deepEqual(
        names.map(decodeName).find((one) => one[0] === 0xfe),
        Buffer.from([0xfe]),
      );
      const told = readdirSync(weak.outputs);
      assert.equal(told.filter((name) => name === '\ufffd').length, 2, 'the naive one has two files of one name');
      assert.ok(told.some((name) => name.includes('\u001b')));
    });

    test('bring no modes with them (80)', () => {
      assert.equal(fileAt('tool')?.sha256, fileAt('same')?.sha256);
      assert.deepEqual(Object.keys(fileAt('tool') ?? {}).toSorted(), ['path', 'sha256', 'size']);
      const copy = join(weak.outputs, '..', `copy-${runtime}`);
      cpSync(join(weak.outputs, 'tool'), copy);
      assert.equal(statSync(join(weak.outputs, 'tool')).mode & 0o6000, 0o6000);
      assert.notEqual(statSync(copy).mode & 0o111, 0, 'the naive copy can be run');
    });

    test('are not unpacked: an archive is bytes (78, 81)', () => {
      const archive = readFileSync(join(weak.outputs, 'archive.tar'));
      assert.ok(archive.includes('../evil'));
      assert.ok(!ran.outputs.files.some(({ path }) => path.includes('evil')));
      const into = join(weak.outputs, '..', `unpacked-${runtime}`, 'here');
      mkdirSync(into, { recursive: true });
      const unpacked = spawnSync('tar', ['-xPf', join(weak.outputs, 'archive.tar'), '-C', into]);
      assert.equal(unpacked.status, 0, unpacked.stderr.toString());
      assert.equal(readFileSync(join(into, '../evil'), 'utf8'), 'evil');
    });

    test('are taken when nobody can change them any more (75)', async () => {
      const swapped = await runs.run(runtime, { blocks: python(swapping('/etc/passwd')) });
      assert.equal(swapped.verdict.outcome, 'succeeded', swapped.verdict.reason);
      const known = [sha256('mine')];
      for (const { path, sha256: digest } of swapped.outputs.files) assert.ok(known.includes(digest), path);
      assert.equal(swapped.outputs.refused.find(({ path }) => path === 'theirs')?.reason, 'it is a symbolic link');
    });
  });

test('who reads outputs while their program lives gets what it swaps them for (75)', async () => {
  // It stays in its container for as long as that lives: its own main process waits.
  await using living = await startWeak(bed, 'runc', { swapping: `${swapping(secret)}\nwhile True: time.sleep(1000)` });
  const swap = join(living.outputs, 'swap');
  await until('the naive reader has read a secret', async () => (await readFile(swap, 'utf8')).includes('secret'));
});

test('paths that lead out are refused by who parses the stream, as a naive writer follows them (78)', async () => {
  const folder = resolve('/outputs/of/a/run');
  for (const path of ['../x', '/x', 'a/../../x', './../x']) {
    const collector = new OutputCollector(runs.store, bed.tenant(), newRunId(), smallLimits);
    await collector.take(
      Buffer.from(path),
      4,
      (async function* () {
        yield Buffer.from('evil');
      })(),
    );
    const { files, refused } = await collector.finish();
    assert.deepEqual([files.length, refused.length], [0, 1], path);
    assert.ok(!resolve(folder, path).startsWith(`${folder}/`), `the naive one writes ${resolve(folder, path)}`);
  }
});

test('outputs that are many are taken up to their limit, and the rest is counted (77)', async () => {
  const many = 'for n in range(1500): open("/outputs/%d" % n, "w").write("x")';
  const ran = await runs.run('runc', { blocks: python(many), limits: { outputFiles: 300, outputBytes: mib } });
  assert.equal(ran.outputs.files.length, 300);
  assert.equal(ran.verdict.outcome, 'output_exceeded');
});
