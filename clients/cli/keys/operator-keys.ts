import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { type StoredKeyList, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { ownRoot, trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';

/** What an operator has who changes the list of signing keys. */
export interface OperatorKeys extends Disposable {
  installation: Installation;
  store: Buckets;
  /** The root's own key; fails where it is kept elsewhere. */
  readonly root: SigningKey;
  stored(): Promise<StoredKeyList | undefined>;
}

export async function openKeys(): Promise<OperatorKeys> {
  const installation = await findInstallation(process.env);
  if (!installation)
    throw new HotcellError(
      'not_found',
      'There is no installation here. Signing keys need the operator’s account of the store in config.env: set HOTCELL_HOME.',
    );
  const [root, roots] = await Promise.all([ownRoot(installation), trustedRoots(installation)]);
  const store = new Buckets(installation.store);
  return {
    installation,
    store,
    get root(): SigningKey {
      if (root) return root;
      throw new HotcellError('not_found', 'The root’s key is not on this machine.');
    },
    stored: () => storedKeyList(store, roots),
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}
