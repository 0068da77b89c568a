import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { Check } from '@hotcell/setup/doctor/check.ts';
import type { MachineFacts } from '@hotcell/setup/doctor/doctor-facts.ts';
import { gatherMachine } from '@hotcell/setup/doctor/gather-machine.ts';
import { judgeVersions } from '@hotcell/setup/doctor/judge-engine.ts';
import { gatherEngineFacts } from '@hotcell/setup/engine/engine-facts.ts';
import { command } from '@hotcell/setup/command.ts';

/** Line 33 of the checklist: the host's versions are compared with those that fixed known escapes. */
suite('what this machine’s cells stand on', () => {
  let facts: MachineFacts;
  let here: Check[];
  before(async () => {
    facts = await gatherMachine('/', await gatherEngineFacts());
    here = judgeVersions(facts);
  });
  const named = (checks: Check[], name: string) => {
    const found = checks.find((check) => check.name === name);
    assert.ok(found, `nothing was said of ${name}: ${JSON.stringify(checks)}`);
    return found;
  };
  const withEngine = (changed: Partial<NonNullable<MachineFacts['engine']>>) => {
    assert.ok(facts.engine);
    return judgeVersions({ ...facts, engine: { ...facts.engine, ...changed } });
  };

  test('is reported with its versions', async (t) => {
    for (const { name, status, message } of here) t.diagnostic(`${name}: ${status}, ${message}`);
    const says = async (argv: [string, ...string[]], pattern: RegExp) =>
      pattern.exec((await command(argv)).stdout)?.[1] ?? assert.fail(`${argv.join(' ')} said no version`);
    assert.ok(named(here, 'runc').message.includes(await says(['runc', '--version'], /version (\S+)/)));
    assert.ok(named(here, 'gVisor').message.includes(await says(['runsc', '--version'], /version (\S+)/)));
    assert.ok(named(here, 'kernel').message.includes(await says(['uname', '-r'], /(\S+)/)));
    const engine = ['docker', 'version', '--format', '{{.Server.Version}}'] as [string, ...string[]];
    assert.ok(named(here, 'engine fixes').message.includes(await says(engine, /(\S+)/)));
  });

  const old: { name: string; changed: Parameters<typeof withEngine>[0]; hole: RegExp }[] = [
    { name: 'runc', changed: { runc: '1.1.5' }, hole: /CVE-2025-31133/ },
    { name: 'runc', changed: { runc: '1.3.2' }, hole: /CVE-2025-31133/ },
    { name: 'engine fixes', changed: { version: '26.1.5' }, hole: /docker cp/ },
    { name: 'kernel', changed: { kernel: '5.15.24-generic' }, hole: /Dirty Pipe/ },
    { name: 'kernel', changed: { kernel: '6.1.36' }, hole: /StackRot/ },
    { name: 'kernel', changed: { kernel: '6.2.16' }, hole: /StackRot/ },
    { name: 'gVisor', changed: { runtimes: ['runc'] }, hole: /not registered/ },
  ];
  for (const { name, changed, hole } of old)
    test(`gets a warning for ${JSON.stringify(changed)}`, () => {
      const check = named(withEngine(changed), name);
      assert.equal(check.status, 'warn');
      assert.match(check.message, hole);
      assert.ok(check.fix, 'what to do is said');
    });

  const runsc = (version: string) => named(judgeVersions({ ...facts, runscVersion: version }), 'gVisor');
  for (const version of ['runsc version 0.0~20240729.0', 'runsc version release-20250303.0', ''])
    test(`gets a warning when runsc says ${JSON.stringify(version)}`, () => {
      const check = runsc(version);
      assert.equal(check.status, 'warn');
      assert.match(check.message, /CVE-2025-2713/);
      assert.ok(check.fix, 'what to do is said');
    });
  test('is fine with a runsc released after its known holes', () => {
    assert.equal(runsc('runsc version release-20250407.0').status, 'ok');
  });

  const closed: { name: string; changed: Parameters<typeof withEngine>[0] }[] = [
    { name: 'runc', changed: { runc: '1.2.8' } },
    { name: 'runc', changed: { runc: '1.3.3' } },
    { name: 'engine fixes', changed: { version: '29.5.1' } },
    { name: 'kernel', changed: { kernel: '5.4.300' } },
    { name: 'kernel', changed: { kernel: '5.10.102' } },
    { name: 'kernel', changed: { kernel: '5.15.200' } },
    { name: 'kernel', changed: { kernel: '6.1.37' } },
    { name: 'kernel', changed: { kernel: '6.18.44-fc-v595' } },
  ];
  for (const { name, changed } of closed)
    test(`is fine with ${JSON.stringify(changed)}`, () => {
      assert.equal(named(withEngine(changed), name).status, 'ok');
    });
});
