import { join } from 'node:path';
import { admit } from '@hotcell/contract/admission.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { checkPolicies, testInstallation } from '@hotcell/policies/check/run-policy-tests.ts';
import { loadFolder } from '@hotcell/policies/load-policies.ts';
import { type Bench, median } from './support/row.ts';

const folder = join(import.meta.dirname, '../policies');
const caller = { tenant: 'bench', role: 'submitter', key: 'bench' } as const;

/** A typical transform of an agent (forty lines, two inputs, a few limits), and a request with three reasons to refuse it. */
const code = `import pandas as pd\n${"df['total'] = df['amount'] * df['rate']\n".repeat(38)}df.to_csv('/outputs/total.csv')\n`;
const asked: RunRequest[] = [
  {
    blocks: [{ language: 'python', code }],
    policy: 'analytics',
    inputs: { sales: 'sales', rates: 'rates' },
    limits: { timeoutSeconds: 900, memoryBytes: 2 ** 32, cpus: 2 },
    env: { TZ: 'UTC', APP_REGION: 'eu' },
    labels: { team: 'finance', job: 'totals' },
    priority: 4,
    publish: 'totals',
  },
  {
    blocks: [
      { language: 'python', code },
      { language: 'ruby', code: 'puts 1' },
    ],
    limits: { timeoutSeconds: 90_000 },
    env: { LD_PRELOAD: '/inputs/x.so' },
  },
];
const inputs = [
  { name: 'sales', bytes: 5e8, files: 12 },
  { name: 'rates', bytes: 5e6, files: 1 },
];

export async function bench(bench: Bench): Promise<void> {
  const { policies } = loadFolder(folder, testInstallation(folder));
  const policy = policies.get('analytics')?.policy;
  if (!policy || checkPolicies(folder).problems.length > 0) throw new Error('the shipped policies do not load');
  const rounds = bench.quick ? 2_000 : 20_000;
  const perSecond = (decide: (request: RunRequest) => unknown) => {
    const once = () => {
      const begun = performance.now();
      for (let i = 0; i < rounds; i++) decide(asked[i % asked.length] as RunRequest);
      return (rounds / (performance.now() - begun)) * 1000;
    };
    once();
    return median([once(), once(), once(), once(), once()]);
  };
  const decisions = perSecond((request) => admit(request, policy, caller, inputs));
  bench.target({ name: 'admission', value: decisions, unit: 'decisions/s', target: 20_000, atLeast: true });
  const read = perSecond((request) => {
    const body = readRunRequest(request);
    if ('request' in body) admit(body.request, policy, caller, inputs);
  });
  bench.row({ name: 'admission/with-parsing', value: read, unit: 'decisions/s' });
}
