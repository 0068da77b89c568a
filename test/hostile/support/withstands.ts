import assert from 'node:assert/strict';
import { allowedFor, type Observation, type Runtime } from './attack.ts';
import type { NamedAttack } from './load.ts';

/** Each of the attack's observations in a cell must be as a sealed cell allows. */
export function withstands(attack: NamedAttack, runtime: Runtime, seen: Observation): void {
  for (const [what, allowed] of Object.entries(attack.sealed))
    assert.ok(
      allowedFor(allowed, runtime).some((one) => one === seen[what]),
      `in the cell ${what} was ${String(seen[what])}; all: ${JSON.stringify(seen)}`,
    );
}
