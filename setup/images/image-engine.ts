import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { command, must } from '../command.ts';

/** The engine's architecture, which may differ from ours if it runs in a virtual machine. */
export async function engineArchitecture(): Promise<string> {
  const { code, stdout, stderr } = await command(['docker', 'version', '--format', '{{.Server.Arch}}']);
  if (code === 0 && stdout.trim() !== '') return stdout.trim();
  throw new HotcellError(
    'engine_unavailable',
    `The engine does not answer: ${stderr.trim() || 'it gave no reason'}. Run \`./hotcell doctor --fix\`.`,
  );
}

/** All our images in the engine, by tag, in one call. */
export async function presentImages(): Promise<Map<string, Digest>> {
  const format = '{{.Repository}}:{{.Tag}} {{.ID}}';
  const filter = 'label=hotcell.managed=1';
  const listed = await must(['docker', 'image', 'ls', '--no-trunc', '--filter', filter, '--format', format]);
  const rows = listed.split('\n').filter((line) => line !== '' && !line.includes('<none>'));
  return new Map(rows.map((row) => row.split(' ') as [string, string]).map(([ref, id]) => [ref, Digest.parse(id)]));
}

/** The last step: an image that has its name is complete. */
export async function nameImage(digest: Digest, ref: string): Promise<void> {
  await must(['docker', 'tag', digest, ref]);
}

/** Remove an unnamed image. If it was named meanwhile, the engine refuses and it stays. */
export async function discardImage(digest: Digest): Promise<void> {
  await command(['docker', 'image', 'rm', digest]);
}

export async function removeName(ref: string): Promise<void> {
  await must(['docker', 'image', 'rm', ref]);
}

const Volumes = z.record(z.string(), z.unknown()).nullable();

export async function volumesOf(digest: Digest): Promise<string[]> {
  const said = await must(['docker', 'image', 'inspect', '--format', '{{json .Config.Volumes}}', digest]);
  return Object.keys(parseJsonAs(Volumes, said, `the volumes of ${digest}`) ?? {});
}
