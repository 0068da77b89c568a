import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { exportOf, exportSigner, putExecuted, writeTar } from '../../../support/exported-run.ts';
import { listKeys, Memory, root } from '../../../support/signed-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-verify-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const [archive, trusted] = [join(folder, 'evidence.tar'), join(folder, 'root.pem')];
writeFileSync(trusted, root.public.pem);

const verify = (...more: string[]) => {
  const words = ['verify', '--offline', archive, '--trust', trusted, '--json', ...more];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(checkout, 'clients/cli/cli-main.ts'), ...words],
    { encoding: 'utf8', env: { HOTCELL_HOME: folder } },
  );
  return { status, stdout, stderr };
};

test('the command reads the bytes of outputs, unless it is told not to', async () => {
  const record = new Memory();
  listKeys(record, exportSigner.listed);
  const at = await putExecuted(record);
  const files = await exportOf(record, [at]);
  const output = `runs/${at.run}/outputs/c`;
  files.set(output, Buffer.from('d'));
  await writeTar(archive, files);
  const said = verify();
  assert.deepEqual([said.status, said.stdout.includes(output)], [3, true], said.stderr);
  assert.ok(!verify('--no-contents').stdout.includes(output));
});

test('an archive that is none is refused in words, with the exit code of evidence that does not verify', () => {
  writeFileSync(archive, Buffer.alloc(2048, 'x'));
  const { status, stdout, stderr } = verify();
  assert.deepEqual([status, stdout], [3, '']);
  assert.match(stderr, /is no export of evidence: at byte 0 there is no header of a tar archive/);
});
