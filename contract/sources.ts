import { z } from 'zod';
import { HotcellError } from './errors.ts';
import { TenantName } from './names.ts';
import { parseJsonAs } from './parse.ts';

/**
 * A bucket of others that the operator lets Hotcell read. A submitter names only bucket and prefix: the address and the
 * credentials are the operator's.
 */
export const Source = z.strictObject({
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{2,62}$/, 'must be 3 to 63 of a-z, 0-9, . and -'),
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  region: z.string().min(1).default('us-east-1'),
  accessKey: z.string().min(1),
  secretKey: z.string().min(1),
  /** The readable prefixes, each with its final slash; an empty one allows the whole bucket. */
  prefixes: z.array(z.string()).min(1, 'must name at least one prefix'),
  /** The tenants whose runs may read it; default: all. */
  tenants: z.array(TenantName).optional(),
});
export type Source = z.infer<typeof Source>;

const SourcesFile = z.strictObject({ version: z.literal(1), sources: z.array(Source) });

/** The operator's file, in JSON. */
export function readSources(text: string): Source[] {
  const { sources } = parseJsonAs(SourcesFile, text, 'the file of sources');
  const twice = sources.find((source, i) => sources.findIndex((other) => other.bucket === source.bucket) !== i);
  if (twice)
    throw new HotcellError(
      'invalid',
      `The file of sources names the bucket ${twice.bucket} twice. Remove one of the two.`,
    );
  return sources;
}

/** The source that lets this tenant read this key or prefix, if any. */
export function sourceFor(
  sources: readonly Source[],
  tenant: string,
  bucket: string,
  keyOrPrefix: string,
): Source | undefined {
  return sources.find(
    (source) =>
      source.bucket === bucket &&
      (source.tenants?.includes(tenant) ?? true) &&
      source.prefixes.some((prefix) => keyOrPrefix.startsWith(prefix)),
  );
}
