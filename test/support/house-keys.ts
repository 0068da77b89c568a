import type { KeyList, KeyRole } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putKeyList, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { openSigner, type Signer } from '@hotcell/record/signer.ts';

/** A root of a test's own, and the list of keys that it signs. */
export class HouseKeys {
  /** The root's private key, for a process of its own. */
  readonly rootPem = SigningKey.generate();
  readonly root = new SigningKey(this.rootPem, 'the root of a test');
  readonly #store: Buckets;
  readonly #installation: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Buckets, installation: string) {
    this.#store = store;
    this.#installation = installation;
  }

  /** Makes the key of a process in its state folder, as the process would, and lists it. */
  async signer(stateDir: string, role: KeyRole, name: string): Promise<Signer> {
    const signer = await openSigner(stateDir, role, name);
    const { fingerprint } = signer.key;
    const from = new Date(Date.now() - 60_000).toISOString();
    await this.change((list) => ({
      ...list,
      keys: list.keys.some((one) => one.fingerprint === fingerprint)
        ? list.keys
        : [...list.keys, { role, name, fingerprint, publicKey: signer.key.public.pem, from }],
    }));
    return signer;
  }

  /** One change after the other. */
  async change(make: (list: KeyList) => KeyList): Promise<void> {
    const changed = this.#last.then(async () => {
      const before = await storedKeyList(this.#store, [this.root.public]);
      const issuedAt = new Date().toISOString();
      const empty: KeyList = { version: 1, installation: this.#installation, number: 0, issuedAt, keys: [] };
      const list = make(before?.list ?? empty);
      await putKeyList(this.#store, this.root, { ...list, number: list.number + 1, issuedAt }, before);
    });
    this.#last = changed.catch(() => undefined);
    await changed;
  }
}
