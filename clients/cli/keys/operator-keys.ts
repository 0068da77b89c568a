import { readFile } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
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
  /** The root's key in a file that was brought along; without one, that of this machine. */
  rootIn(file: string | undefined): Promise<SigningKey>;
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
  const own = () => {
    if (root) return root;
    throw new HotcellError('not_found', 'The root’s key is not on this machine.');
  };
  return {
    installation,
    store,
    get root(): SigningKey {
      return own();
    },
    rootIn: async (file) => (file === undefined ? own() : new SigningKey(await readFile(file, 'utf8'), file)),
    stored: () => storedKeyList(store, roots),
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}
