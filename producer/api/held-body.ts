import type { FairShare, GiveBack } from '@hotcell/outside/process/fair-share.ts';

/** What a request holds because of its body. All of it is given back at once, at the latest when the exchange is over. */
export class HeldBody {
  readonly #held: GiveBack[] = [];
  readonly #over = new AbortController();

  async take(share: FairShare, tenant: string, bytes: number, withinMs: number): Promise<GiveBack> {
    const { signal } = this.#over;
    const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    const giveBack = await share.takeInTurn(tenant, bytes, within);
    this.#held.push(giveBack);
    // The client may have gone away in the moment in which its turn came.
    if (signal.aborted) this.giveBack();
    return giveBack;
  }

  giveBack(): void {
    this.#over.abort();
    for (const giveBack of this.#held) giveBack();
  }
}
