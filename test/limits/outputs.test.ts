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
import { openOutputRoom } from '../support/output-room.ts';

/** Everything that an output folder can do to its reader. The secret is a file that the host can read. */
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

/** A process left behind swaps a harmless file for a link, again and again, between a reader's check and its read. */
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
  // The host takes the outputs, whatever runtime ran the program: once is enough.
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

    test('are only regular files with one name, stored under their digests', async () => {
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

    test('do not follow a link to a file of the host, unlike reading by path (72)', () => {
      assert.equal(reasonFor('link'), 'it is a symbolic link');
      assert.equal(naive.get('link')?.toString(), 'a secret of the host');
    });

    test('with a second hard link are refused (73)', () => {
      assert.match(`${reasonFor('one')} ${reasonFor('two')}`, /hard links.*hard links/);
      assert.deepEqual([naive.get('one')?.toString(), naive.get('two')?.toString()], ['x', 'x']);
    });

    test('do not block at a fifo or a socket, unlike opening them (74)', async () => {
      assert.deepEqual([reasonFor('fifo'), reasonFor('socket')], ['it is a fifo', 'it is a socket']);
      const waiting = readFile(join(weak.outputs, 'fifo'), 'utf8');
      const fifo = await open(join(weak.outputs, 'fifo'), 'w');
      await fifo.write('said by somebody else');
      await fifo.close();
      assert.equal(await waiting, 'said by somebody else');
    });

    test('count by their apparent size, so a sparse file exceeds the limit (76)', () => {
      assert.equal(reasonFor('sparse'), 'it exceeds the limit of output bytes');
      assert.equal(ran.verdict.outcome, 'output_exceeded');
      assert.match(ran.verdict.reason, /limit of 4 MiB/);
      assert.ok(statSync(join(weak.outputs, 'sparse')).size >= 2 ** 40, 'the naive reader would read a tebibyte');
    });

    test('end where folders are too deep (77)', () => {
      const tooDeep = ran.outputs.refused.filter(({ reason }) => reason === 'its folders are nested too deeply');
      assert.equal(tooDeep.length, 1);
      assert.ok(existsSync(join(weak.outputs, ...Array<string>(40).fill('d'), 'bottom')));
    });

    test('with invalid names are told apart, and their names send no terminal commands (79)', () => {
      const names = ran.outputs.refused.flatMap(({ path, reason }) => (reason.startsWith('its name') ? [path] : []));
      assert.deepEqual(names.toSorted(), ['%1B]0;title%07', '%FE', '%FF', 'new%0Aline', 'txt.%E2%80%AEgnp']);
      assert.deepEqual(
        names.map(decodeName).find((one) => one[0] === 0xfe),
        Buffer.from([0xfe]),
      );
      const told = readdirSync(weak.outputs);
      assert.equal(told.filter((name) => name === '\ufffd').length, 2, 'the naive reader sees two files with one name');
      assert.ok(told.some((name) => name.includes('\u001b')));
    });

    test('lose their modes (80)', () => {
      assert.equal(fileAt('tool')?.sha256, fileAt('same')?.sha256);
      assert.deepEqual(Object.keys(fileAt('tool') ?? {}).toSorted(), ['path', 'sha256', 'size']);
      const copy = join(weak.outputs, '..', `copy-${runtime}`);
      cpSync(join(weak.outputs, 'tool'), copy);
      assert.equal(statSync(join(weak.outputs, 'tool')).mode & 0o6000, 0o6000);
      assert.notEqual(statSync(copy).mode & 0o111, 0, 'the naive copy is executable');
    });

    test('are never unpacked (78, 81)', () => {
      const archive = readFileSync(join(weak.outputs, 'archive.tar'));
      assert.ok(archive.includes('../evil'));
      assert.ok(!ran.outputs.files.some(({ path }) => path.includes('evil')));
      const into = join(weak.outputs, '..', `unpacked-${runtime}`, 'here');
      mkdirSync(into, { recursive: true });
      const unpacked = spawnSync('tar', ['-xPf', join(weak.outputs, 'archive.tar'), '-C', into]);
      assert.equal(unpacked.status, 0, unpacked.stderr.toString());
      assert.equal(readFileSync(join(into, '../evil'), 'utf8'), 'evil');
    });

    test('are read only after every process has ended (75)', async () => {
      const swapped = await runs.run(runtime, { blocks: python(swapping('/etc/passwd')) });
      assert.equal(swapped.verdict.outcome, 'succeeded', swapped.verdict.reason);
      const known = [sha256('mine')];
      for (const { path, sha256: digest } of swapped.outputs.files) assert.ok(known.includes(digest), path);
      assert.equal(swapped.outputs.refused.find(({ path }) => path === 'theirs')?.reason, 'it is a symbolic link');
    });
  });

test('reading outputs while the program lives reads what it swaps them for (75)', async () => {
  // The main process waits, so that the swapping process lives on in its container.
  await using living = await startWeak(bed, 'runc', { swapping: `${swapping(secret)}\nwhile True: time.sleep(1000)` });
  const swap = join(living.outputs, 'swap');
  await until('the naive reader has read a secret', async () => (await readFile(swap, 'utf8')).includes('secret'));
});

test('paths that lead out of /outputs are refused by the parser, where a naive writer follows them (78)', async () => {
  const folder = resolve('/outputs/of/a/run');
  for (const path of ['../x', '/x', 'a/../../x', './../x']) {
    const collector = new OutputCollector(
      { store: runs.store, tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() },
      smallLimits,
    );
    await collector.take(
      Buffer.from(path),
      4,
      (async function* () {
        yield Buffer.from('evil');
      })(),
    );
    const { files, refused } = await collector.finish();
    assert.deepEqual([files.length, refused.length], [0, 1], path);
    assert.ok(!resolve(folder, path).startsWith(`${folder}/`), `a naive writer writes ${resolve(folder, path)}`);
  }
});

test('outputs beyond the file limit are counted and not kept (77)', async () => {
  const many = 'for n in range(1500): open("/outputs/%d" % n, "w").write("x")';
  const ran = await runs.run('runc', { blocks: python(many), limits: { outputFiles: 300, outputBytes: mib } });
  assert.equal(ran.outputs.files.length, 300);
  assert.equal(ran.verdict.outcome, 'output_exceeded');
});
