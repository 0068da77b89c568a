import { z } from 'zod';
import { answerObject, jsonAnswer, tagged } from './route.ts';

const Disk = answerObject('Disk', {
  measuredAt: z.iso.datetime().nullable().describe('when the buckets were measured; null until the first time is over'),
  kinds: z.array(
    z.strictObject({
      kind: z.string().describe('"work" is the work bucket, the others are parts of the record'),
      objects: z.number().int(),
      bytes: z.number().int(),
      bytesPerDay: z.number().int().nullable().describe('over the last seven days; null if too little is known'),
    }),
  ),
  valkey: z
    .strictObject({ memoryBytes: z.number().int(), appendOnlyFileBytes: z.number().int().nullable() })
    .nullable()
    .describe('null while Valkey is away'),
});
export type Disk = z.infer<typeof Disk>;

const route = tagged('disk');

export const diskRoutes = {
  showDisk: route('GET /v1/disk', 'operator', 'Show what takes room, by kind, and how fast it grows', {
    description: 'A producer measures the buckets from time to time; this call reads what it found.',
    answers: { 200: jsonAnswer('the use of disks', Disk) },
  }),
};
