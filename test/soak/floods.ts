import assert from 'node:assert/strict';
import { type Asked, mib, openRuns, type Ran, runtimes } from '../limits/support/runs.ts';
import { held } from '../limits/support/hostile-runs.ts';
import { openBed } from '../support/bed.ts';

const gib = 1024 * mib;
const limits = { timeoutSeconds: 3000, blockTimeoutSeconds: 3000, memoryBytes: 2 * gib } as const;

const writes = 10_000_000;
const files = 100_000;
const kept = 60_000;
const crowd = `
import os
os.chdir("/outputs")
for n in range(${files}): open(str(n), "w").write("x")
for _ in range(5000):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").write("x")
`;

interface Flood {
  name: string;
  asked: Asked;
  holds: (ran: Ran) => void;
}

const floods: readonly Flood[] = [
  {
    name: 'ten GiB of log',
    asked: { blocks: [{ argv: ['head', '-c', String(10 * gib), '/dev/zero'] }], limits },
    holds: (ran) => assert.deepEqual([ran.verdict.outcome, ran.logs.bytes], ['succeeded', 10 * gib]),
  },
  {
    name: 'ten million writes of a byte',
    asked: {
      blocks: [{ language: 'python', code: `import os\nfor _ in range(${writes}): os.write(1, b"x")` }],
      limits,
    },
    holds: (ran) => assert.deepEqual([ran.verdict.outcome, ran.logs.bytes], ['succeeded', writes]),
  },
  {
    name: 'a hundred thousand files, and folders five thousand deep',
    asked: {
      blocks: [{ language: 'python', code: crowd }],
      limits: { ...limits, outputFiles: kept, outputBytes: gib },
    },
    holds: (ran) => assert.deepEqual([ran.verdict.outcome, ran.outputs.files.length], ['output_exceeded', kept]),
  },
];

/** The floods of test/limits at full size: memory stays bounded, and the last byte arrives. */
export async function fullFloods(say: (line: string) => void): Promise<string> {
  await using bed = await openBed();
  await using runs = await openRuns(bed, 'floods');
  for (const runtime of runtimes)
    for (const { name, asked, holds } of floods) {
      say(`${name} on ${runtime}`);
      // Not the resident size: V8 returns memory late.
      const before = (await held()).bytes;
      let peak = before;
      const look = async () => {
        peak = Math.max(peak, (await held()).bytes);
      };
      const timer = setInterval(() => void look(), 1000);
      holds(await runs.run(runtime, asked).finally(() => clearInterval(timer)));
      assert.ok(peak - before < 128 * mib, `${name}: ${peak - before} bytes more were held`);
      say(`${name} on ${runtime}: ${Math.round((peak - before) / mib)} MiB more were held`);
    }
  return `${floods.length * runtimes.length} floods`;
}
