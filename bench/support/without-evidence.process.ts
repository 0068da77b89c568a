import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { Buckets } from '@hotcell/record/buckets.ts';

type Put = Buckets['putIfAbsent'];

/**
 * Loaded into a worker before its own program: it neither signs nor stores evidence. Nothing in Hotcell can be switched so;
 * it shows what the two cost.
 */
const put = Reflect.get(Buckets.prototype, 'putIfAbsent');
Buckets.prototype.putIfAbsent = async function (this: Buckets, ...asked: Parameters<Put>) {
  const [, key] = asked;
  return key.endsWith('/evidence.sigstore.json') || (await put.apply(this, asked));
};
SigningKey.prototype.sign = () => Buffer.alloc(71);
