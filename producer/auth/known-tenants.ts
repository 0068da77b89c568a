import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { tenantExists } from '@hotcell/record/made-tenants.ts';
import { operatorTenant } from './caller.ts';

const remembered = 10_000;

/** Which tenants there are. One that exists stays, so each is looked up once; a mistyped one each time. */
export class KnownTenants {
  readonly #store: Buckets;
  readonly #known = new Set<string>([operatorTenant]);

  constructor(store: Buckets) {
    this.#store = store;
  }

  /** The operator may name any tenant, and a typing error would make a new one that no user has. */
  async require(tenant: string): Promise<void> {
    if (this.#known.has(tenant)) return;
    if (!(await tenantExists(this.#store, tenant)))
      throw new HotcellError(
        'not_found',
        `Tenant ${tenant} not found. GET /v1/tenants lists the tenants; POST /v1/tenants makes one.`,
      );
    if (this.#known.size >= remembered) this.#known.clear();
    this.#known.add(tenant);
  }
}
