import { z } from 'zod';
import { limitTable } from './limits.ts';
import { TenantName } from './names.ts';
import { exactBytes } from './sizes.ts';

const count = (least: number) => z.number().int().min(least, `must be at least ${least}`);

interface QuotaRow {
  unit: 'count' | 'bytes' | 'cpus';
  value: z.ZodNumber;
  /** Where no quota says otherwise. */
  shipped: number | 'unlimited';
  /** How long a caller is told to wait who meets it. */
  retryAfterSeconds: number;
  help: string;
}

const rows = {
  waitingRuns: {
    unit: 'count',
    value: count(0),
    shipped: 100_000,
    retryAfterSeconds: 10,
    help: 'runs that are accepted and have not begun, delayed ones included',
  },
  runningRuns: {
    unit: 'count',
    value: count(1),
    shipped: 'unlimited',
    retryAfterSeconds: 10,
    help: 'runs that workers have at once; more wait, and hold up no other tenant',
  },
  runningCpus: {
    unit: 'cpus',
    value: z.number().min(limitTable.cpus.min, `must be at least ${limitTable.cpus.min}`),
    shipped: 'unlimited',
    retryAfterSeconds: 10,
    help: 'CPUs, in sum, of the runs that workers have at once; more wait, and hold up no other tenant',
  },
  storedBytes: {
    unit: 'bytes',
    value: count(0),
    shipped: 'unlimited',
    retryAfterSeconds: 60,
    help: 'bytes of uploads, copied prefixes and outputs that the record holds, each content once',
  },
  openStreams: {
    unit: 'count',
    value: count(0),
    shipped: 'unlimited',
    retryAfterSeconds: 5,
    help: 'streams and waits for a result that one producer holds open at once',
  },
  requestsPerSecond: {
    unit: 'count',
    value: count(1),
    shipped: 1_000,
    retryAfterSeconds: 1,
    help: 'requests a second to one producer; twice as many at once',
  },
} as const satisfies Record<string, QuotaRow>;

export type QuotaName = keyof typeof rows;
export const quotaTable: Readonly<Record<QuotaName, QuotaRow>> = rows;
export const quotaNames = Object.keys(rows) as QuotaName[];

export function forEachQuota<T>(make: (name: QuotaName, row: QuotaRow) => T): Record<QuotaName, T> {
  return Object.fromEntries(quotaNames.map((name) => [name, make(name, quotaTable[name])])) as Record<QuotaName, T>;
}

const valueOf = (_name: QuotaName, { unit, value, help }: QuotaRow) =>
  z
    .union([value, z.literal('unlimited')], { error: `must be ${unitText(unit, value)}, or unlimited` })
    .optional()
    .describe(help);

const unitText = (unit: QuotaRow['unit'], value: z.ZodNumber) =>
  `a ${unit === 'cpus' ? 'number' : 'whole number'} from ${value.minValue ?? 0}`;

/** What one tenant may have: what is missing follows from elsewhere. */
export const TenantQuota = z.strictObject(forEachQuota(valueOf));
export type TenantQuota = z.infer<typeof TenantQuota>;

/** The operator's file. */
export const QuotaFile = z.strictObject({
  version: z.literal(1),
  defaults: TenantQuota.optional(),
  tenants: z.record(TenantName, TenantQuota).optional(),
});
export type QuotaFile = z.infer<typeof QuotaFile>;

/** Which of the places says it, the strongest first. */
export const QuotaOrigin = z.enum(['api', 'file', 'defaults', 'shipped']);
type QuotaOrigin = z.infer<typeof QuotaOrigin>;

interface EffectiveLimit {
  /** `Infinity`: unlimited. */
  limit: number;
  from: QuotaOrigin;
}
export type EffectiveQuota = Readonly<Record<QuotaName, EffectiveLimit>>;

/** Each quota by itself: what the API set wins over the file's tenant, that over the file's defaults, those over ours. */
export function effectiveQuota(tenant: string, file: QuotaFile, set: TenantQuota | undefined): EffectiveQuota {
  const layers: readonly (readonly [QuotaOrigin, TenantQuota | undefined])[] = [
    ['api', set],
    ['file', file.tenants?.[tenant]],
    ['defaults', file.defaults],
  ];
  return forEachQuota((name, { shipped }) => {
    const [from, layer] = layers.find(([, one]) => one?.[name] !== undefined) ?? (['shipped', undefined] as const);
    const value = layer?.[name] ?? shipped;
    return { limit: value === 'unlimited' ? Number.POSITIVE_INFINITY : value, from };
  });
}

export function showQuota(name: QuotaName, value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'unlimited';
  return quotaTable[name].unit === 'bytes' ? exactBytes(value) : String(value);
}
