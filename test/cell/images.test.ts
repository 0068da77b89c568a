import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/cell/prepare.ts';
import { Engine } from '@hotcell/outside/engine.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn, type TestCells, type Told } from '../support/cells.ts';
import { until } from '../support/until.ts';

/** Images that attack: whatever an image says or brings, a cell is made from its files and its PATH alone. */
const recipes = {
  everything: (from: string) => `
FROM ${from}
RUN mkdir -p /evil /work /outputs /inputs \\
 && printf '#!/bin/sh\\necho EVIL\\n' | tee /evil/run /cell-init > /evil/id \\
 && chmod 0755 /evil/run /cell-init /evil/id \\
 && cp /usr/bin/id /evil/setuid-id && chmod 6755 /evil/setuid-id \\
 && echo EVIL | tee /work/left /outputs/left /inputs/left > /dev/null \\
 && chmod 0700 /work /outputs && echo /evil/none.so > /etc/ld.so.preload \\
 && echo 'job:x:0:0::/:/bin/sh' >> /etc/passwd
ENV LD_PRELOAD=/evil/none.so LD_LIBRARY_PATH=/evil PYTHONSTARTUP=/evil/start.py PYTHONPATH=/evil HOTCELL_INPUTS=/evil \\
    BASH_ENV=/evil/run ENV=/evil/run SECRET=EVIL PATH=.:relative:/evil:/usr/local/bin:/usr/bin:/bin
LABEL hotcell.managed=0 hotcell.role=service hotcell.worker=evil hotcell.deadline=2099-01-01T00:00:00Z \\
      hotcell.cell=evil hotcell.run=evil hotcell.attempt=99
EXPOSE 80
USER nobody
STOPSIGNAL SIGCONT
WORKDIR /proc/self/fd/7
HEALTHCHECK --interval=1s --timeout=5s CMD touch /tmp/healthy
ENTRYPOINT ["/evil/run"]
CMD ["evil"]
`,
  volume: (from: string) => `FROM ${from}\nVOLUME /data\n`,
  link: (from: string) => `FROM ${from}\nRUN rm -rf /work && ln -s /etc /work\n`,
  folder: (from: string) => `FROM ${from}\nRUN mkdir /cell-init\n`,
} as const;
type Hostile = keyof typeof recipes;

let bed: Bed;
let made: TestCells;
const built: Partial<Record<Hostile, { ref: string; digest: string }>> = {};
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'images');
  for (const [name, recipe] of Object.entries(recipes) as [Hostile, (from: string) => string][]) {
    const ref = `hotcell-test/${bed.installation.id}-${name}:1`;
    const label = `hotcell.installation=${bed.installation.id}`;
    // A folder, not standard input: of that the builder leaves copies in the temporary folder.
    const folder = await bed.folder(`image-${name}`);
    await writeFile(join(folder, 'Dockerfile'), recipe(bed.images.python.ref));
    await must(['docker', 'build', '--quiet', '--network', 'none', '--label', label, '--tag', ref, folder]);
    built[name] = { ref, digest: (await engine.image(ref)).Id };
  }
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  const refs = Object.values(built).map(({ ref }) => ref);
  if (refs.length > 0) await must(['docker', 'image', 'rm', '--force', ...refs]);
  await bed?.[Symbol.asyncDispose]();
});

const image = (name: Hostile) => {
  const found = built[name];
  if (!found) throw new Error(`the image ${name} was not built`);
  return found;
};

const look = `
import json, os, subprocess, time
def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True).stdout.strip()
end = time.monotonic() + 3
while not os.path.exists("/tmp/healthy") and time.monotonic() < end:
    time.sleep(0.1)
print("SEEN " + json.dumps({
    "cwd": os.getcwd(),
    "work": sorted(os.listdir("/work")),
    "inputs": os.listdir("/inputs"),
    "outputs": os.listdir("/outputs"),
    "env": sorted(os.environ),
    "user": run("/usr/bin/id", "-un"),
    "setuid": run("/evil/setuid-id", "-u") == str(os.getuid()),
    "pid1": open("/proc/1/cmdline").read().split(chr(0))[0],
    "healthy": os.path.exists("/tmp/healthy"),
    "path": os.environ["PATH"],
}))
`;

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`an image that attacks with everything it has, on ${runtime}`, () => {
    let told: Told;
    let seen: Record<string, unknown>;
    before(async () => {
      const job = prepareJob(
        {
          blocks: [
            // A PATH with the current folder in it: what a job puts there must not become its next interpreter.
            { language: 'bash', code: 'printf "#!/bin/sh\\necho EVIL\\n" > python3; chmod +x python3', file: 'a.bash' },
            { language: 'python', code: look, file: 'b.py' },
            { argv: ['id'] },
          ],
          files: [],
        },
        languages,
      );
      told = await runIn(made.cells, made.plan(runtime, { image: image('everything') }), job);
      const line = /SEEN (.*)/.exec(told.logs[1] ?? '')?.[1];
      assert.ok(line, `the block saw nothing; it said: ${told.logs.join('\n')}`);
      seen = JSON.parse(line);
    });

    test('runs in a cell, whose posture does not differ', () => assert.deepEqual(ends(told), [0, 0, 0]));
    test('has no say in what runs first: neither its entrypoint, nor its command, nor its own /cell-init', () => {
      assert.equal(seen.pid1, '/cell-init');
      assert.doesNotMatch(told.logs[1] ?? '', /^EVIL$/m);
      // Its own preload is what its own programs say something of. Init is not one of them.
      assert.match(told.logs[1] ?? '', /none\.so.*cannot be preloaded/);
    });
    test('has no health check run in the cell', () => assert.equal(seen.healthy, false));
    test('has no say in the environment but for its PATH', () => {
      assert.deepEqual(
        seen.env,
        ['HOME', 'HOTCELL_INPUTS', 'HOTCELL_OUTPUTS', 'LANG', 'PATH', 'PYTHONUNBUFFERED', 'TMPDIR'].toSorted(),
      );
      assert.equal(seen.path, '.:relative:/evil:/usr/local/bin:/usr/bin:/bin');
    });
    test('is searched for programs by its PATH, but not in the folder that the job can write', () => {
      assert.match(told.logs[1] ?? '', /SEEN/);
      assert.match(told.logs[2] ?? '', /^EVIL$/m, 'its own /evil/id comes first in its PATH');
    });
    test('has no say in who the job is, nor where it starts', () => {
      assert.equal(seen.user, 'job');
      assert.equal(seen.cwd, '/work');
    });
    test('gains nothing by a setuid program', () => assert.equal(seen.setuid, true));
    test('has nothing of its own where a cell keeps its scratch, inputs and outputs', () => {
      assert.deepEqual([seen.work, seen.inputs, seen.outputs], [['a.bash', 'b.py', 'python3'], [], []]);
    });
  });

test('its labels say nothing of a cell', async () => {
  const cell = await made.cells.open(made.plan('runc', { image: image('everything') }));
  try {
    const labels = (await engine.inspect(cell.container))?.Config.Labels ?? {};
    assert.equal(labels['hotcell.managed'], '1');
    assert.equal(labels['hotcell.role'], 'cell');
    assert.equal(labels['hotcell.worker'], made.worker);
    assert.equal(labels['hotcell.cell'], cell.id);
    assert.equal(labels['hotcell.attempt'], '1');
  } finally {
    await cell.destroy();
  }
});

test('the same image in a plain container does all that', async () => {
  const name = `hotcell-test-plain-${bed.installation.id}`;
  const labels = ['--label', 'hotcell.managed=1', '--label', `hotcell.installation=${bed.installation.id}`];
  const { ref } = image('everything');
  const plain = await must(['docker', 'run', '--rm', '--network', 'none', ...labels, '--workdir', '/', ref]);
  assert.match(plain, /EVIL/, 'its entrypoint runs');
  const env = await must([
    'docker',
    'run',
    '--rm',
    '--network',
    'none',
    ...labels,
    '--workdir',
    '/',
    '--entrypoint',
    'env',
    ref,
  ]);
  assert.match(env, /LD_PRELOAD=\/evil\/none\.so/);
  const id = ['--entrypoint', '/evil/setuid-id', ref, '-u'];
  assert.equal(
    (await must(['docker', 'run', '--rm', '--network', 'none', ...labels, '--workdir', '/', ...id])).trim(),
    '0',
  );
  const detached = ['--detach', '--name', name, '--network', 'none', ...labels, '--workdir', '/'];
  await must(['docker', 'run', ...detached, '--entrypoint', 'sleep', ref, '600']);
  try {
    await until('the plain container’s health check runs', async () => {
      const { State } = (await engine.inspect(name)) ?? {};
      return State?.Health?.Status === 'healthy';
    });
  } finally {
    await engine.remove(name);
  }
});

const refusals: Record<Exclude<Hostile, 'everything'>, RegExp> = {
  volume: /declares VOLUME \/data/,
  link: /\/work is a link to "\/etc"/,
  folder: /\/cell-init is a folder/,
};
for (const [name, said] of Object.entries(refusals) as [Hostile, RegExp][])
  test(`an image with a ${name} where a cell mounts is refused by name, every time`, async () => {
    for (const runtime of ['runc', 'gvisor', 'runc'] as const)
      await assert.rejects(
        made.cells.open(made.plan(runtime, { image: image(name) })),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'image_refused');
          assert.match(error.message, said);
          assert.match(error.message, new RegExp(image(name).ref));
          return true;
        },
      );
    assert.deepEqual(await engine.list([`hotcell.worker=${made.worker}`]), []);
  });
