import type { Digest } from '@hotcell/contract/digest.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Findings, type ImageReport } from '@hotcell/contract/image-report.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { checkout } from '../settings/installation.ts';
import type { Builder, Say } from './build.ts';

interface Subject {
  name: string;
  ref: string;
  digest: Digest;
}

/** Scan an image from outside: our program sees its files mounted, and nothing of the image runs. */
export async function scanImage(subject: Subject, tools: string, builder: Builder, say: Say): Promise<ImageReport> {
  const { name, ref, digest } = subject;
  const context = join(checkout, 'images/scan');
  const folder = join(builder.scratch, `findings-${name}`);
  const recipe = { name, dockerfile: join(context, 'Dockerfile'), context, arguments: { TOOLS: tools, SUBJECT: ref } };
  await builder.files(recipe, folder, say);
  const found = await readFile(join(folder, 'findings.json'), 'utf8');
  return { name, ref, digest, ...parseJsonAs(Findings, found, `the scan of the image ${name}`) };
}
