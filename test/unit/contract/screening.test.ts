import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { screen, screenStep } from '@hotcell/contract/screening.ts';
import { admitted, policyOf } from '../../support/policies.ts';

const remarks = (language: string, code: string) => screen([{ language, code }], languages);
const names = (language: string, code: string) =>
  remarks(language, code).map((remark) => /\((\w+)\)$/.exec(remark)?.[1] ?? remark);

/** One program that each flag is for. */
const flagged: [flag: string, language: string, code: string][] = [
  ['installs_packages', 'bash', 'pip install requests'],
  ['installs_packages', 'python', 'subprocess.run(["pip", "install", "x"])'],
  ['installs_packages', 'bash', 'apt-get -y install curl'],
  ['installs_packages', 'r', 'install.packages("dplyr")'],
  ['virtual_environment', 'bash', 'python3 -m venv /tmp/v'],
  ['opens_sockets', 'python', 'import requests'],
  ['opens_sockets', 'python', 'from urllib.request import urlopen'],
  ['opens_sockets', 'javascript', "const net = require('net')"],
  ['opens_sockets', 'javascript', "await fetch('/x')"],
  ['network_client', 'bash', 'x=$(curl -s example)'],
  ['addresses', 'python', "df = read_csv('s3://bucket/key')"],
  ['absent_paths', 'python', 'open("/home/me/data.csv")'],
  ['absent_paths', 'bash', 'ls ~/data'],
  ['absent_paths', 'bash', 'docker -H unix:///var/run/docker.sock ps; cat /var/run/docker.sock'],
  ['metadata_service', 'bash', 'cat 169.254.169.254'],
  ['shells_out', 'python', 'os.system("id")'],
  ['runs_built_text', 'python', 'exec(code)'],
  ['mentions_credentials', 'python', 'password = "hunter22"'],
  ['mentions_credentials', 'bash', 'export KEY=AKIAABCDEFGHIJKLMNOP'],
  ['mentions_credentials', 'python', '"""-----BEGIN RSA PRIVATE KEY-----"""'],
  ['base64_blob', 'python', `x = "${'QUJD'.repeat(200)}"`],
  ['long_line', 'python', `x = "${'a b '.repeat(600)}"`],
];

describe('screening', () => {
  for (const [flag, language, code] of flagged)
    test(`flags ${flag} in ${language}: ${code.slice(0, 40)}`, () =>
      assert.ok(names(language, code).includes(flag), String(names(language, code))));

  test('has nothing to say about ordinary work', () => {
    const code = `
import pandas as pd
import matplotlib.pyplot as plt
df = pd.read_csv('/inputs/sales/2026.csv', sep=';')
total = df.groupby('country')['amount'].sum()
total.to_csv('/outputs/total.csv')
plt.savefig('/outputs/total.png')
with open('/work/notes.txt', 'w') as file:
    file.write(f'{len(df)} rows')
result = pd.eval('1 + 1')
`;
    assert.deepEqual(remarks('python', code), []);
    assert.deepEqual(remarks('bash', 'for f in /inputs/data/*; do wc -l "$f"; done > /outputs/lines.txt'), []);
  });

  test('says where, and what to do here instead', () => {
    assert.deepEqual(remarks('bash', 'set -e\n\npip install pandas'), [
      'blocks[0] line 3: This will fail: a cell has no network. Packages are part of the image. Ask the operator for an image that has them. (installs_packages)',
    ]);
  });

  test('looks at the arguments of a program too', () => {
    const [warning = ''] = screen([{ argv: ['sh', '-c', 'pip install pandas'] }], languages);
    assert.match(warning, /^blocks\[0\] line 1: .*\(installs_packages\)$/);
  });

  test('mentions each kind of thing once in a block, in the order of its lines', () => {
    const found = remarks('bash', 'curl a\ncurl b\npip install x\ncurl c');
    assert.deepEqual(
      found.map((remark) => /line \d+/.exec(remark)?.[0]),
      ['line 1', 'line 3'],
    );
  });

  test('stays short for a request with many blocks, and looks at a bounded part of each', () => {
    const blocks = Array.from({ length: 64 }, () => ({ language: 'bash', code: 'curl a\npip install x\n' }));
    assert.ok(screen(blocks, languages).length < 40);
    const hidden = `${'#\n'.repeat(200_000)}curl example\n`;
    assert.deepEqual(names('bash', hidden), ['unsearched']);
  });

  test('goes through text made to be slow to search', () => {
    for (const nasty of ['pip '.repeat(100_000), `${'A'.repeat(511)} `.repeat(800), '"\' '.repeat(150_000)])
      assert.deepEqual(names('python', nasty), ['long_line', 'unsearched']);
    assert.deepEqual(names('python', 'a'.repeat(400_000)), ['long_line', 'base64_blob', 'unsearched']);
  });

  test('can be switched off by a policy, and refuses nothing either way', () => {
    const blocks = [{ language: 'bash', code: 'pip install x' }];
    const said = { languages: ['bash'] };
    assert.equal(admitted(policyOf(said), { blocks }).warnings.length, 1);
    assert.deepEqual(admitted(policyOf({ ...said, screening: false }), { blocks }).warnings, []);
  });
});

test('a step is screened as a block, and its lines are its own', () => {
  const block = { language: 'bash', code: 'true\npip install requests' };
  const [advice] = screenStep(block, languages);
  assert.match(advice ?? '', /^line 2: /);
  assert.deepEqual(screen([block], languages), [`blocks[0] ${advice}`]);
  assert.deepEqual(screenStep({ argv: ['true'] }, languages), []);
});
