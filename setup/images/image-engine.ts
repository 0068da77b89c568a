import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { command, must } from '../command.ts';

/** The engine's own architecture, which is not ours when it runs in a virtual machine or elsewhere. */
export async function engineArchitecture(): Promise<string> {
  const { code, stdout, stderr } = await command(['docker', 'version', '--format', '{{.Server.Arch}}']);
  if (code === 0 && stdout.trim() !== '') return stdout.trim();
  throw new HotcellError(
    'engine_unavailable',
    `the engine does not answer, so no image can be built or found: ${stderr.trim() || 'no reason given'}. \`./hotcell doctor --fix\` sets it up`,
  );
}

/** Every image of ours in the engine, by its tag. One call, however many there are. */
export async function presentImages(): Promise<Map<string, Digest>> {
  const format = '{{.Repository}}:{{.Tag}} {{.ID}}';
  const filter = 'label=hotcell.managed=1';
  const listed = await must(['docker', 'image', 'ls', '--no-trunc', '--filter', filter, '--format', format]);
  const rows = listed.split('\n').filter((line) => line !== '' && !line.includes('<none>'));
  return new Map(rows.map((row) => row.split(' ') as [string, string]).map(([ref, id]) => [ref, Digest.parse(id)]));
}

/** The last thing that is done to an image: one that has its name is whole. */
export async function nameImage(digest: Digest, ref: string): Promise<void> {
  await must(['docker', 'tag', digest, ref]);
}

/** An image without a name that nobody wants. One that somebody has given a name meanwhile stays: the engine refuses. */
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
