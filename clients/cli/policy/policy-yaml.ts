import { forEachLimit, isBytes } from '@hotcell/contract/limits.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import { visible } from '../visible.ts';

/** The policy as a person would write it, with sizes like 512 MiB. */
export function forReading(policy: Policy): Record<string, unknown> {
  const { version: _version, name: _name, limits, inputs, ...rest } = policy;
  const shown = forEachLimit((name) => {
    const { min, default: usual, max } = limits[name];
    const size = (value: number) => (isBytes(name) ? exactBytes(value) : value);
    return { min: size(min), default: size(usual), max: size(max) };
  });
  return { ...rest, inputs: { ...inputs, bytes: exactBytes(inputs.bytes) }, limits: shown };
}

export async function readable(policy: Policy): Promise<string> {
  const { stringify } = await import('yaml');
  return visible(stringify(forReading(policy), { lineWidth: 120 }));
}
