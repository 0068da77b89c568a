import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { type Digest, sha256 } from '../digest.ts';
import { HotcellError } from '../errors.ts';

/** P-256, with signatures in DER: what cosign, @sigstore/verify and securesystemslib all take. */
const curve = 'prime256v1';

/** A private key of one process, or the root. */
export class SigningKey {
  readonly #key: KeyObject;
  readonly public: VerifyingKey;

  constructor(pem: string, what = 'the signing key') {
    this.#key = p256(() => createPrivateKey(pem), what);
    this.public = new VerifyingKey(createPublicKey(this.#key).export({ type: 'spki', format: 'pem' }).toString(), what);
  }

  static generate(): string {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: curve });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  get fingerprint(): Digest {
    return this.public.fingerprint;
  }

  sign(bytes: Uint8Array): Buffer {
    return sign('sha256', bytes, this.#key);
  }
}

/** A public key, named by the sha256 of its SPKI form. */
export class VerifyingKey {
  readonly #key: KeyObject;
  readonly fingerprint: Digest;
  /** In the one form that we write. */
  readonly pem: string;

  constructor(pem: string, what = 'the public key') {
    this.#key = p256(() => createPublicKey(pem), what);
    this.fingerprint = sha256(this.#key.export({ type: 'spki', format: 'der' }));
    this.pem = this.#key.export({ type: 'spki', format: 'pem' }).toString();
  }

  verifies(bytes: Uint8Array, signature: Uint8Array): boolean {
    return verify('sha256', bytes, this.#key, signature);
  }
}

function p256(make: () => KeyObject, what: string): KeyObject {
  let key: KeyObject;
  try {
    key = make();
  } catch (cause) {
    throw new HotcellError('invalid', `${what} is not a key in PEM`, { cause });
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curve)
    throw new HotcellError('invalid', `${what} is not a P-256 key: Hotcell signs with ECDSA on P-256 alone`);
  return key;
}
