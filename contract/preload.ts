import { z } from 'zod';
import { Digest } from './digest.ts';

/** A program that loads libraries in a waiting cell, by its name in images/preloads. Its policy pins its text. */
export const PreloadName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -');
export const Preload = z.strictObject({ name: PreloadName, digest: Digest });
export type Preload = z.infer<typeof Preload>;

/** Why a run's first block began in a fresh interpreter, although its policy names a preload. */
export const whyFresh = {
  session: 'a session has an interpreter of its own',
  program: 'its first block is not an unnamed block of python',
  workspace: 'its workspace may have modules of its own',
  runtime: 'preloads work on runc alone',
  variables: 'it sets variables, which libraries may read while they load',
  cold: 'its cell had not waited',
  failed: 'the preload did not work in the cell that waited',
} as const;
export type WhyFresh = keyof typeof whyFresh;
