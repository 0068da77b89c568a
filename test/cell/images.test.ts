import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { threadVariables } from '@hotcell/contract/job-variables.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn, type TestCells, type Told } from '../support/cells.ts';
import { until } from '../support/until.ts';

/** Hostile images: whatever an image declares or contains, a cell uses only its files and its PATH. */
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
type Runtime = 'runc' | 'gvisor';

const ours = ['HOME', 'HOTCELL_INPUTS', 'HOTCELL_OUTPUTS', 'LANG', 'PATH', 'PYTHONUNBUFFERED', 'TMPDIR'];
let bed: Bed;
let made: TestCells;
const built: Partial<Record<Hostile, { ref: string; digest: string }>> = {};
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'images', bed.id(), { dockerHost: engineSocket });
  for (const [name, recipe] of Object.entries(recipes) as [Hostile, (from: string) => string][]) {
    const ref = `hotcell-test/${bed.installation.id}-${name}:1`;
    const label = `hotcell.installation=${bed.installation.id}`;
    // From a folder: of standard input the builder leaves copies in the temporary folder.
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
            // PATH contains the current folder: a job's file there must not become its next interpreter.
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

    test('runs in a cell with the right posture', () => assert.deepEqual(ends(told), [0, 0, 0]));
    test('does not choose what runs first, neither by entrypoint, nor command, nor its own /cell-init', () => {
      assert.equal(seen.pid1, '/cell-init');
      assert.doesNotMatch(told.logs[1] ?? '', /^EVIL$/m);
      // Its own programs complain about its preload; init does not load it.
      assert.match(told.logs[1] ?? '', /none\.so' from \/etc\/ld\.so\.preload cannot be preloaded/);
      assert.doesNotMatch(told.logs.join('\n'), /from LD_PRELOAD/);
    });
    test('runs no health check in the cell', () => assert.equal(seen.healthy, false));
    test('sets no environment variable except PATH', () => {
      assert.deepEqual(seen.env, [...ours, ...threadVariables].toSorted());
      assert.equal(seen.path, '.:relative:/evil:/usr/local/bin:/usr/bin:/bin');
    });
    test('is searched by its PATH, but not in a folder that the job can write', () => {
      assert.match(told.logs[1] ?? '', /SEEN/);
      assert.match(told.logs[2] ?? '', /^EVIL$/m, 'its own /evil/id comes first in its PATH');
    });
    test('chooses neither the job’s user nor its working directory', () => {
      assert.equal(seen.user, 'job');
      assert.equal(seen.cwd, '/work');
    });
    test('gains nothing by a setuid program', () => assert.equal(seen.setuid, true));
    test('shows none of its files in scratch, inputs and outputs', () => {
      assert.deepEqual([seen.work, seen.inputs, seen.outputs], [['a.bash', 'b.py', 'python3'], [], []]);
    });
  });

test('an image’s labels do not change a cell’s labels', async () => {
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

/** Runs a program in a container that is not hardened, and returns both its streams together. */
async function plain(runtime: Runtime, name: Hostile, options: string[], ...words: string[]): Promise<string> {
  const ours = ['--label', 'hotcell.managed=1', '--label', `hotcell.installation=${bed.installation.id}`];
  const run = ['run', '--rm', '--runtime', runtime === 'gvisor' ? 'runsc' : 'runc', '--network', 'none'];
  const { code, stdout, stderr } = await command(['docker', ...run, ...ours, ...options, image(name).ref, ...words]);
  return `${stdout}${stderr}${code === 0 ? '' : `failed with ${code}`}`;
}

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`the same images in plain containers on ${runtime}`, () => {
    const inRoot = ['--workdir', '/'];
    test('run their entrypoint and their preloads', async () => {
      const said = await plain(runtime, 'everything', inRoot);
      assert.match(said, /^EVIL$/m);
      assert.match(said, /none\.so' from LD_PRELOAD cannot be preloaded/);
      assert.match(said, /none\.so' from \/etc\/ld\.so\.preload cannot be preloaded/);
    });
    test('have their own /cell-init', async () => {
      assert.match(await plain(runtime, 'everything', [...inRoot, '--entrypoint', '/cell-init']), /^EVIL$/m);
    });
    test('choose the user', async () => {
      assert.match(await plain(runtime, 'everything', [...inRoot, '--entrypoint', '/usr/bin/id'], '-un'), /^nobody$/m);
    });
    test('set environment variables', async () => {
      const said = await plain(runtime, 'everything', [...inRoot, '--entrypoint', '/usr/bin/env']);
      assert.match(said, /^SECRET=EVIL$/m);
      assert.match(said, /^PYTHONSTARTUP=/m);
    });
    test('find programs in the current folder through PATH', async () => {
      const script = 'cd /tmp && printf "#!/bin/sh\necho FORGED\n" > python3 && chmod +x python3 && python3';
      const said = await plain(runtime, 'everything', [...inRoot, '--entrypoint', '/bin/sh'], '-c', script);
      assert.match(said, /^FORGED$/m);
    });
    test('show their own files where a cell keeps its scratch', async () => {
      const said = await plain(runtime, 'everything', [...inRoot, '--user', '0', '--entrypoint', '/bin/ls'], '/work');
      assert.match(said, /^left$/m);
    });
    test('choose the working directory, even one that is a descriptor of the runtime', async () => {
      // A fixed runtime refuses to start it; an older one starts it there.
      assert.match(
        await plain(runtime, 'everything', ['--entrypoint', '/bin/pwd']),
        /failed with|\/proc\/self\/fd|unreachable/,
      );
    });
    test('can write to a volume on the host’s disk', async () => {
      const script = 'touch /data/kept && stat --file-system --format %T /data';
      const said = await plain(runtime, 'volume', [], 'sh', '-c', script);
      assert.doesNotMatch(said, /failed with/);
      assert.match(await plain(runtime, 'volume', [], 'grep', ' /data ', '/proc/self/mountinfo'), / \/data /);
    });
    test('redirect a mount over their link to where it leads', async () => {
      const release = ['ls', '/etc/debian_version'];
      assert.match(await plain(runtime, 'link', [], ...release), /^\/etc\/debian_version$/m);
      const over = ['--volume', `${await bed.folder('over-a-link')}:/work`];
      assert.match(await plain(runtime, 'link', over, ...release), /failed with/);
    });
    test('prevent a file from being mounted over their folder', async () => {
      const file = join(bed.initFolder, 'cell-init');
      assert.match(await plain(runtime, 'folder', ['--volume', `${file}:/cell-init:ro`], 'true'), /failed with/);
    });
    test('run their health check, and have their labels', async () => {
      const name = `hotcell-test-plain-${runtime}-${bed.installation.id}`;
      const kept = ['--detach', '--name', name, ...inRoot, '--entrypoint', '/usr/bin/sleep'];
      await plain(runtime, 'everything', kept, '600');
      try {
        const config = (await engine.inspect(name))?.Config.Labels ?? {};
        assert.equal(config['hotcell.worker'], 'evil');
        assert.equal(config['hotcell.deadline'], '2099-01-01T00:00:00Z');
        await until('the health check has run', async () => {
          const { State } = (await engine.inspect(name)) ?? {};
          return State?.Health?.Status === 'healthy';
        });
      } finally {
        await engine.remove(name);
      }
    });
  });

test('a setuid program gains its owner’s rights in a plain container', async () => {
  // gVisor never honours setuid.
  const options = ['--workdir', '/', '--entrypoint', '/evil/setuid-id'];
  assert.match(await plain('runc', 'everything', options, '-u'), /^0$/m);
});

const refusals: Record<Exclude<Hostile, 'everything'>, RegExp> = {
  volume: /declares VOLUME \/data/,
  link: /\/work is a link to "\/etc"/,
  folder: /\/cell-init is a folder/,
};
for (const [name, said] of Object.entries(refusals) as [Hostile, RegExp][])
  test(`an image with a ${name} where a cell mounts is refused by name, each time`, async () => {
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
