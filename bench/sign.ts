import { newRunId } from '@hotcell/contract/names.ts';
import { committed, putEvidence, signResult } from '@hotcell/record/attest.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { specFor } from '../test/support/spec.ts';
import { type Bench, median } from './support/row.ts';

/**
 * The CPU that evidence adds to a run: statement, signature, bundle, and the request that stores it. What a run without
 * evidence needs as well, the canonical form of its result, is taken off.
 */
export async function bench({ target, row, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const { store, tenant, producer } = house;
  const runs = quick ? 20 : 200;
  const made = () => {
    const run = newRunId();
    const spec = { ...specFor(tenant, 'print(1)\n'.repeat(200)), run, acceptedAt: new Date().toISOString() };
    const ending = { outcome: 'succeeded', reason: 'Your code ended with exit code 0.' } as const;
    return { spec, result: emptyResult({ run, tenant, spec: sha256('spec') }, spec, ending, new Date()) };
  };
  const signing = async () => {
    const { spec, result } = made();
    const attested = await signResult(producer.signer, result, { spec });
    return { attested };
  };
  const figures = { signed: [] as number[], put: [] as number[], plain: [] as number[] };
  for (let round = 0; round < 5; round++) {
    figures.plain.push(await cpuMs(runs, async () => void (await hashedForm(made().result))));
    figures.signed.push(
      await cpuMs(
        runs,
        async () => void (await committed((await signing()).attested, { bundle: 'x', sha256: sha256('') })),
      ),
    );
    figures.put.push(
      await cpuMs(runs, async () => {
        const { attested } = await signing();
        await committed(attested, await putEvidence(store, attested, undefined));
      }),
    );
  }
  const plain = median(figures.plain);
  row({ name: 'sign/signature', value: median(figures.signed) - plain, unit: 'ms of CPU' });
  target({ name: 'sign', value: median(figures.put) - plain, unit: 'ms of CPU', target: 3 });
}

/** Of each, on average. */
async function cpuMs(times: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}
