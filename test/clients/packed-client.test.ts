import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { must } from '@hotcell/setup/command.ts';
import { packSdk } from '@hotcell/setup/pack-sdk.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const program = `
import { pathToFileURL } from 'node:url';
import { check, Hotcell, HotcellError, type Result, routes, RunFailed } from '@hotcell/client';

const hotcell = new Hotcell();
const { id } = await hotcell.snapshot('data', { name: 'words' });
const result: Result = await hotcell.run('print hello', { language: 'sh', inputs: { words: 'words' } });

const run = await hotcell.submit({ blocks: [{ language: 'sh', code: 'print hello\\noutput hello' }] });
await run.result({ signal: AbortSignal.timeout(60_000) });
let log = '';
for await (const row of run.logs()) log += row.text ?? '';
const { files } = await run.outputs();
const bytes = (await run.bytes('out.txt')).toString();
const saved = await run.save('saved');
const inputs = { before: run, local: pathToFileURL('data'), named: 'words' };
const later = check(await hotcell.run('print hello', { language: 'sh', inputs }));
const failure: unknown = await hotcell.run('exit 3', { language: 'sh' }).then(check, String).catch((thrown) => thrown);
const { policies } = await hotcell.policies();
const frozen = await hotcell.snapshot(run.asInput);

const waiting = await hotcell.submit({ blocks: [{ language: 'sh', code: 'hold' }] });
await waiting.cancel('not needed');
const { outcome: cancelled } = await waiting.result();

const { runs } = await hotcell.list({ limit: 10 });
const { names } = await hotcell.call(routes.listSnapshotNames, {});
const error: unknown = await hotcell.run('print hello', { policy: 'nosuch' }).catch((thrown: unknown) => thrown);
if (!(error instanceof HotcellError)) throw error;
const { code, retryable, requestId, issues } = error;

process.stdout.write(
  JSON.stringify({
    outcome: result.outcome,
    input: result.inputs[0]?.snapshot === id,
    name: names[0]?.name,
    log,
    outputs: files.length,
    bytes,
    saved: saved.map(({ path }) => path),
    inputs: later.inputs.length,
    failed: failure instanceof RunFailed && failure.result.exitCode,
    policy: (await hotcell.policy(policies[0]?.name ?? '')).name === policies[0]?.name,
    frozen: frozen.files,
    finished: await run.isFinished(),
    cancelled,
    listed: runs.some((row) => row.run === waiting.id),
    refusal: { code, retryable, named: requestId !== undefined, reasons: issues.length },
  }),
);
`;
const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', types: ['node'] };

test('the packed SDK installs into an empty project, where a strict program compiles and runs', async () => {
  // Outside the checkout, whose node_modules would hide a missing dependency.
  const cwd = await bed.shortFolder();
  const tarballs = await packSdk(cwd);
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  await must(['npm', 'install', '--prefer-offline', ...tarballs, '@types/node@24.10.1'], { cwd });
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await writeFile(join(cwd, 'program.ts'), program);
  await mkdir(join(cwd, 'data'));
  await writeFile(join(cwd, 'data/words.txt'), 'hello');

  await must([join(checkout, 'node_modules/.bin/tsc'), '-p', '.'], { cwd });
  const env = { HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() };
  assert.deepEqual(JSON.parse(await must([process.execPath, 'program.js'], { cwd, env })), {
    outcome: 'succeeded',
    input: true,
    name: 'words',
    log: 'hello\n',
    outputs: 1,
    bytes: 'hello',
    saved: ['out.txt'],
    inputs: 3,
    failed: 3,
    policy: true,
    frozen: 1,
    finished: true,
    cancelled: 'cancelled',
    listed: true,
    refusal: { code: 'policy_refused', retryable: false, named: true, reasons: 1 },
  });
});
