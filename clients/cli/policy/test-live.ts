import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@hotcell/contract/errors.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { z } from 'zod';
import type { Hotcell } from '@hotcell/client/index.ts';
import { openClient } from '../client.ts';
import { type Globals, printJson } from '../globals.ts';
import { uploadSource } from '../upload-sources.ts';
import { visible } from '../visible.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { inputText, type Probe, probesOf } from './probes.ts';

const longestSeconds = 180;

/** Starts real cells under each policy of the installation, and compares what programs find there with the policy. */
export async function testLive(only: readonly string[], globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const { policies } = await client.call(routes.listPolicies, {});
  const names = policies.map(({ name }) => name).filter((name) => only.length === 0 || only.includes(name));
  const snapshot = await uploadInput(client);
  for (const name of names) {
    const { policy } = await client.call(routes.getPolicy, { params: { policy: name } });
    const why = whyNotProbed(policy);
    if (why) {
      tell(globals, { policy: name, probe: null, ok: true, difference: why });
      continue;
    }
    const probes = probesOf(policy, policy.inputs.count > 0 ? snapshot : undefined);
    const differences = await Promise.all(probes.map((probe) => run(client, probe)));
    for (const [i, { name: probe }] of probes.entries()) {
      const difference = differences[i] ?? null;
      if (difference !== null) process.exitCode = 1;
      tell(globals, { policy: name, probe, ok: difference === null, difference });
    }
  }
}

function whyNotProbed(policy: Policy): string | undefined {
  if (policy.approval) return 'not probed: it refuses every run until approvals exist';
  if (!policy.languages.some(({ name }) => name === 'python')) return 'not probed: the probes are written in python';
  return undefined;
}

function tell(
  globals: Globals,
  row: { policy: string; probe: string | null; ok: boolean; difference: string | null },
): void {
  if (globals.json) return printJson({ live: row });
  const what = row.probe === null ? '' : ` ${row.probe}`;
  const why = row.difference === null ? '' : `: ${visible(row.difference)}`;
  process.stdout.write(`${row.ok ? 'ok  ' : 'FAIL'} live ${row.policy}${what}${why}\n`);
}

async function run(client: Hotcell, probe: Probe): Promise<string | undefined> {
  const signal = AbortSignal.timeout(longestSeconds * 1000);
  try {
    const run = await client.submit(probe.request, { signal });
    const result = await run.result({ signal });
    const said = { stdout: '', stderr: '' };
    for await (const row of run.logs({ signal })) said[row.stream] += row.text ?? '';
    const difference = probe.differs({ result, said: lastJson(said.stdout) });
    const error = lastLine(said.stderr);
    return difference !== undefined && error ? `${difference} (${error})` : difference;
  } catch (error) {
    if (signal.aborted) return `no result within ${longestSeconds} s. See ./hotcell status.`;
    return messageOf(error);
  }
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';

function lastJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(lastLine(text)));
  } catch {
    // A stopped program prints nothing; the probe decides what that means.
    return {};
  }
}

async function uploadInput(client: Hotcell): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotcell-probe-'));
  try {
    await writeFile(join(folder, 'probe.txt'), inputText);
    return (await uploadSource(client, folder, { note: () => undefined, warnings: () => undefined })).id;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
