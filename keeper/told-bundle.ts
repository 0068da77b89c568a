import { readFileSync, writeFileSync } from 'node:fs';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import type { bundleOf } from './bundle.ts';
import type { HostView } from './outside-differences.ts';

/** What a runtime was told of a cell, as far as the host's kernel is asked about it, and the digest of all of it. */
export interface ToldBundle {
  digest: Digest;
  asked: HostView['asked'];
}

const Bundle = z.looseObject({
  linux: z.looseObject({
    resources: z.looseObject({
      memory: z.object({ limit: z.number() }),
      cpu: z.object({ quota: z.number(), period: z.number() }),
      pids: z.object({ limit: z.number() }),
    }),
  }),
  mounts: z.array(z.looseObject({ destination: z.string(), options: z.array(z.string()) })),
});

const told = (text: string, { linux, mounts }: z.infer<typeof Bundle>): ToldBundle => ({
  digest: sha256(text),
  asked: { ...linux.resources, mounts },
});

export function writeBundle(file: string, bundle: ReturnType<typeof bundleOf>): ToldBundle {
  const text = JSON.stringify(bundle);
  writeFileSync(file, text);
  return told(text, bundle);
}

/** Of an earlier keeper's cell. */
export function readRuntimeBundle(file: string): ToldBundle {
  const text = readFileSync(file, 'utf8');
  return told(text, parseJsonAs(Bundle, text, 'a bundle', 'internal'));
}
