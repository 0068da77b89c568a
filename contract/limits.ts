import { z } from 'zod';

const count = (what: string) =>
  z
    .number({ error: `${what} is a whole number` })
    .int()
    .positive();

/** What bounds a run. Every one has a default and a maximum in the policy; the effective ones stand in the result. */
const limitFields = {
  timeoutSeconds: count('the time limit of the run, in seconds,'),
  blockTimeoutSeconds: count('the time limit of a block, in seconds,'),
  graceSeconds: z.number().int().min(0),
  memoryBytes: count('memory'),
  cpus: z.number().positive(),
  pids: count('the number of processes'),
  openFiles: count('the number of open files'),
  fileBytes: count('the size of one file'),
  logBytes: z.number().int().min(0),
  outputBytes: z.number().int().min(0),
  outputFiles: z.number().int().min(0),
  scratchBytes: count('the size of scratch'),
  scratchInodes: count('the number of files in scratch'),
} as const;

export const Limits = z.strictObject(limitFields);
export type Limits = z.infer<typeof Limits>;
export type LimitName = keyof Limits;
export const limitNames = Object.keys(limitFields) as LimitName[];

/** What a request may ask for: any of them, none of them needed. */
export const AskedLimits = Limits.partial();
export type AskedLimits = z.infer<typeof AskedLimits>;
