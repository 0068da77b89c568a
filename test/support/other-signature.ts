import assert from 'node:assert/strict';

/** The order of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The two numbers of an ECDSA signature in DER. */
function numbersIn(der: Buffer): [r: bigint, s: bigint] {
  assert.deepEqual([der[0], der[2]], [0x30, 2]);
  const end = 4 + (der[3] ?? 0);
  const number = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`);
  return [number(der.subarray(4, end)), number(der.subarray(end + 2))];
}

function integer(value: bigint, padding = 0): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
  const content = Buffer.concat([Buffer.alloc(padding), positive]);
  return Buffer.concat([Buffer.from([2, content.length]), content]);
}

const sequence = (...parts: Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x30, content.length]), content]);
};

/** What one without the key makes of a signature: (r, n − s) is one over the same bytes by the same key. */
export function twinOf(der: Buffer): Buffer {
  const [r, s] = numbersIn(der);
  return sequence(integer(r), integer(order - s));
}

/** The same two numbers in forms that are not DER. */
export function bentForms(der: Buffer): Record<string, Buffer> {
  const [r, s] = numbersIn(der);
  const content = der.subarray(2);
  return {
    'a byte behind it': Buffer.concat([der, Buffer.alloc(1)]),
    'a padded number': sequence(integer(r, 1), integer(s)),
    'a long form of its length': Buffer.concat([Buffer.from([0x30, 0x81, content.length]), content]),
    'a number above the order': sequence(integer(r), integer(s + order)),
  };
}
