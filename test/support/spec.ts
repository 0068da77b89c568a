import { sha256 } from '@hotcell/contract/digest.ts';
import type { Spec } from '@hotcell/contract/spec.ts';

const nothing = sha256('');

/** A spec for the echo worker, without inputs. */
export function specFor(tenant: string, code: string): Omit<Spec, 'run' | 'acceptedAt'> {
  return {
    version: 1,
    tenant,
    requester: { key: 'test', role: 'submitter' },
    blocks: [{ language: 'sh', code }],
    files: [],
    params: null,
    policy: { name: 'echo', digest: nothing },
    image: { ref: 'echo', digest: nothing },
    runtime: 'runc',
    inputs: [],
    limits: {},
    env: {},
    labels: {},
    priority: 5,
    warnings: [],
  };
}
