import { readFileSync } from 'node:fs';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

type Env = Readonly<Record<string, string | undefined>>;

/** A secret may come in a file (NAME_FILE instead of NAME), which keeps it out of process lists and `docker inspect`. */
function valueOf(name: string, env: Env): string | undefined {
  const plain = env[name];
  const file = env[`${name}_FILE`];
  if (plain !== undefined && file !== undefined)
    throw new HotcellError('invalid', `${name} and ${name}_FILE are both set. Remove one of them.`);
  if (file === undefined) return plain;
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (cause) {
    throw new HotcellError('invalid', `Could not read ${file}, which ${name}_FILE names: ${messageOf(cause)}.`, {
      cause,
    });
  }
}

/**
 * Read a process's settings once. An unknown HOTCELL_ variable is probably a typing error that would be hard to find, so
 * it is refused, with the nearest known name.
 */
export function readSettings<S extends z.ZodObject>(
  schema: S,
  env: Env,
  alsoKnown: readonly string[] = [],
): z.output<S> {
  const names = Object.keys(schema.shape);
  const known = new Set([...names, ...names.map((name) => `${name}_FILE`), ...alsoKnown]);
  const unknown = Object.keys(env).filter((name) => name.startsWith('HOTCELL_') && !known.has(name));
  if (unknown.length > 0) {
    const issues = unknown.map((path) => {
      const near = nearest(path, [...known]);
      return { path, message: `Unknown setting ${path}. ${near ? `Did you mean ${near}?` : 'Unset it.'}` };
    });
    throw new HotcellError('invalid', issues.map(({ message }) => message).join(' '), { issues });
  }
  const values = Object.fromEntries(
    names.map((name) => [name, valueOf(name, env)]).filter(([, value]) => value !== undefined),
  );
  return parseAs(schema, values, 'the environment of this process');
}

const bucket = z.string().regex(/^[a-z0-9][a-z0-9.-]{2,62}$/, 'a bucket is named by 3 to 63 of a-z, 0-9, . and -');

/** What every service needs to reach the store and the queue. */
export const commonSettings = {
  HOTCELL_INSTALLATION: z.string().regex(/^[a-z0-9]{1,32}$/, 'an installation is named by 1 to 32 of a-z and 0-9'),
  HOTCELL_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'an http or https address' }),
  HOTCELL_S3_REGION: z.string().min(1).default('us-east-1'),
  HOTCELL_S3_ACCESS_KEY: z.string().min(1, 'the access key of this process’s store account'),
  HOTCELL_S3_SECRET_KEY: z.string().min(1, 'the secret key of this process’s store account'),
  HOTCELL_RECORD_BUCKET: bucket.default('hotcell-record'),
  HOTCELL_WORK_BUCKET: bucket.default('hotcell-work'),
  HOTCELL_REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'a redis:// or rediss:// address' }),
  HOTCELL_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  HOTCELL_CRASH_AT: z.string().optional(),
} as const;
export type CommonSettings = z.output<z.ZodObject<typeof commonSettings>>;
