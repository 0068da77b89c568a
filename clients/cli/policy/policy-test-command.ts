import { type Checked, checkPolicies } from '@hotcell/policies/check/run-policy-tests.ts';
import { counted } from '@hotcell/contract/format.ts';
import { problemLine } from '@hotcell/policies/yaml.ts';
import { type Globals, printJson } from '../globals.ts';
import { visible } from '../visible.ts';
import { policiesFolder } from './local-policy.ts';

/** Exits with 1 if a test fails or a rule of a policy has no test. */
export async function test(only: readonly string[], live: boolean, globals: Globals): Promise<void> {
  const checked = checkPolicies(policiesFolder(), only);
  tell(checked, globals);
  const bad = checked.problems.length > 0 || checked.reports.some((one) => one.failures.length + one.unsaid.length > 0);
  if (bad) process.exitCode = 1;
  if (live && !bad) await (await import('./test-live.ts')).testLive(only, globals);
}

function tell({ reports, problems }: Checked, globals: Globals): void {
  if (globals.json) {
    reports.forEach(printJson);
    for (const problem of problems) printJson({ problem });
    return;
  }
  for (const problem of problems) process.stdout.write(`${visible(problemLine(problem))}\n`);
  for (const { policy, tests, rules, failures, unsaid } of reports) {
    const good = failures.length + unsaid.length === 0;
    const covered = `${counted(tests, 'test')} cover ${rules - unsaid.length} of ${rules} rules, ${failures.length} failed`;
    process.stdout.write(`${good ? 'ok  ' : 'FAIL'} ${policy}: ${tests === 0 ? 'untested' : covered}\n`);
    for (const { file, line, test: name, difference } of failures)
      process.stdout.write(`  ${visible(`${file}:${line}: "${name}" ${difference}`)}\n`);
    for (const what of unsaid) process.stdout.write(`  ${visible(what)}\n`);
  }
}
