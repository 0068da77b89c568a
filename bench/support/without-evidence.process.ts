import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Buckets } from '@hotcell/record/buckets.ts';

/**
 * Loaded into a worker before its own program: it neither signs nor stores evidence. Nothing in Hotcell can be switched so;
 * it shows what the two cost.
 */
const put = Buckets.prototype.putIfAbsent;
Buckets.prototype.putIfAbsent = async function (this: Buckets, ...asked: Parameters<typeof put>) {
  const [, key] = asked;
  return key.endsWith('/evidence.sigstore.json') ? true : await put.apply(this, asked);
};
SigningKey.prototype.sign = () => Buffer.alloc(71);
