import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Digest } from '@hotcell/contract/digest.ts';
import { Limits } from '@hotcell/contract/limits.ts';
import { PolicyName } from '@hotcell/contract/names.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import { Preload } from '@hotcell/contract/preload.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { z } from 'zod';
import type { CellPlan } from '../cell/cell-plan.ts';

const Remembered = z.strictObject({
  version: z.literal(1),
  policy: z.strictObject({ name: PolicyName, digest: Digest }),
  runtime: z.enum(['runc', 'gvisor']),
  image: z.strictObject({ ref: z.string(), digest: z.string() }),
  limits: Limits,
  imageEnv: z.array(z.string()),
  seccomp: z.record(z.string(), z.string()),
  preload: z.exactOptional(Preload.extend({ argv: z.array(z.string()) })),
});
export type Remembered = z.infer<typeof Remembered>;

/**
 * The classes of pinned policies, from one start of a worker to the next: only a run's judged spec says which cell its
 * policy gives, so until the first run there would be nothing to make. Nothing of a tenant is in them.
 */
export class PinnedClasses {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #written = new Map<string, string>();

  constructor(stateDir: string, log: Logger) {
    this.#folder = join(stateDir, 'pinned');
    this.#log = log;
  }

  /** What is unreadable is learned again from the next run. */
  recall(policies: Iterable<string>): Remembered[] {
    return [...policies].flatMap((name) => {
      const file = this.#file(name);
      try {
        const text = readFileSync(file, 'utf8');
        this.#written.set(name, text);
        return [parseOurs(Remembered, text, file)];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          this.#log.warn(
            { file, err: error },
            'failed to read which cells wait for a pinned policy; its next run will tell',
          );
        return [];
      }
    });
  }

  keep(
    policy: { name: string; digest: string },
    { runtime, image, limits, imageEnv, seccomp, preload }: CellPlan,
  ): void {
    const text = JSON.stringify({ version: 1, policy, runtime, image, limits, imageEnv, seccomp, preload });
    if (this.#written.get(policy.name) === text) return;
    const file = this.#file(policy.name);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      this.#written.set(policy.name, text);
    } catch (error) {
      this.#log.warn({ file, err: error }, 'failed to note which cells wait for a pinned policy');
    }
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}
