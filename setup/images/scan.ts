import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Findings, type ImageReport } from '@hotcell/contract/image-report.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { checkout } from '../settings/installation.ts';
import { build, type Say } from './docker.ts';

interface Subject {
  name: string;
  ref: string;
  digest: Digest;
}

/** Look through an image from outside. Its files are mounted for a program of ours; nothing of it runs. */
export async function scanImage(
  subject: Subject,
  more: { tools: string; scratch: string; certificates: string; say: Say },
): Promise<ImageReport> {
  const context = join(checkout, 'images/scan');
  const folder = join(more.scratch, `findings-${subject.name}`);
  await build({
    name: `${subject.name} (its contents)`,
    dockerfile: join(context, 'Dockerfile'),
    context,
    arguments: { TOOLS: more.tools, SUBJECT: subject.ref },
    to: { folder },
    certificates: more.certificates,
    say: more.say,
  });
  const found = parseJsonAs(
    Findings,
    await readFile(join(folder, 'findings.json'), 'utf8'),
    `the contents of ${subject.name}`,
  );
  return { ...subject, ...found };
}
