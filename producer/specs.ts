import type { Digest } from '@hotcell/contract/digest.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readSpec, specBytes } from '@hotcell/record/run-spec.ts';
import type { Doors } from './bounds/doors.ts';
import { SharedReads } from './follow/shared-reads.ts';

interface SpecDeps {
  bulk: Buckets;
  doors: Pick<Doors, 'work'>;
  patienceMs: number;
}

/** What is shown of a run that goes on: little, however large its code and files are. */
export type ShownSpec = ReturnType<typeof shownOf>;

const rememberedBytes = 16 * 1024 * 1024;

function shownOf({ acceptedAt, policy, image, runtime, inputs, labels, requester, warnings }: Spec) {
  const shownInputs = inputs.map(({ name, snapshot, locations }) => ({ name, snapshot, locations }));
  return { acceptedAt, policy, image, runtime, inputs: shownInputs, labels, requester, warnings };
}

/** The specs of runs for those who ask about them: a spec may be 64 MiB, and a question is free. */
export class Specs {
  readonly #deps: SpecDeps;
  readonly #reads = new SharedReads<ShownSpec>();
  /** Those that were asked for longest ago come first. */
  readonly #shown = new Map<string, { shown: ShownSpec; bytes: number }>();
  #bytes = 0;

  constructor(deps: SpecDeps) {
    this.#deps = deps;
  }

  /** All of it; dispose of it when it is not needed any more, so that others are read. */
  async whole(tenant: string, run: RunId, digest: Digest): Promise<Disposable & { spec: Spec }> {
    const { bulk, doors, patienceMs } = this.#deps;
    const bytes = await specBytes(bulk, tenant, run);
    const giveBack = await doors.work.takeInTurn(tenant, bytes, AbortSignal.timeout(patienceMs));
    try {
      return { spec: await readSpec(bulk, tenant, run, digest), [Symbol.dispose]: giveBack };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  async shown(tenant: string, run: RunId, digest: Digest): Promise<ShownSpec> {
    const known = () => this.#recall(`${tenant}/${run}`);
    const read = async () => {
      using found = await this.whole(tenant, run, digest);
      return this.remember(found.spec);
    };
    // Those who asked meanwhile find it remembered.
    return known() ?? (await this.#reads.read(`${tenant}/${run}`, async () => known() ?? (await read())));
  }

  remember(spec: Spec): ShownSpec {
    const shown = shownOf(spec);
    const bytes = Buffer.byteLength(JSON.stringify(shown));
    this.#forget(`${spec.tenant}/${spec.run}`);
    this.#shown.set(`${spec.tenant}/${spec.run}`, { shown, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#shown.keys()) {
      if (this.#bytes <= rememberedBytes) break;
      this.#forget(oldest);
    }
    return shown;
  }

  #recall(key: string): ShownSpec | undefined {
    const found = this.#shown.get(key);
    if (!found) return undefined;
    this.#shown.delete(key);
    this.#shown.set(key, found);
    return found.shown;
  }

  #forget(key: string): void {
    this.#bytes -= this.#shown.get(key)?.bytes ?? 0;
    this.#shown.delete(key);
  }
}
