import type { IncomingMessage } from 'node:http';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { KeyRing } from './keyring.ts';

const lookEveryMs = 1_000;

/**
 * The requests that are being answered, by the key that they came with. A key that is revoked or expires ends those that
 * last: streams, waits, uploads and downloads. Their connections are cut, as no proper end would say why.
 */
export class OpenRequests implements Disposable {
  readonly #keys: Pick<KeyRing, 'isStillGood'>;
  readonly #log: Logger;
  readonly #open = new Map<string, Set<IncomingMessage>>();
  readonly #timer: NodeJS.Timeout;

  constructor(keys: Pick<KeyRing, 'isStillGood'>, log: Logger) {
    this.#keys = keys;
    this.#log = log;
    this.#timer = setInterval(() => void this.#lookAtAll(), lookEveryMs);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  add(key: string, request: IncomingMessage, answer: NodeJS.EventEmitter): void {
    const all = this.#open.get(key) ?? new Set();
    this.#open.set(key, all.add(request));
    answer.once('close', () => {
      all.delete(request);
      if (all.size === 0 && this.#open.get(key) === all) this.#open.delete(key);
    });
  }

  /** Ends what came with this key, if it is good no more. */
  async look(key: string): Promise<void> {
    // While the store is away, nothing is known of any key.
    const isGood = await this.#keys.isStillGood(key).catch(() => true);
    if (isGood) return;
    const all = this.#open.get(key) ?? new Set();
    this.#log.info({ key, requests: all.size }, 'ended the requests of a key that is good no more');
    for (const request of all) request.socket.destroy();
  }

  async #lookAtAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((key) => this.look(key)));
  }
}
