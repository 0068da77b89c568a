import { namesAwaited, type NameVersions, withVersions } from '@hotcell/contract/published-versions.ts';
import { currentPeriod } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead } from '@hotcell/contract/schedule.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readVersions } from '@hotcell/record/snapshot-name.ts';

/** A name of which the next version gives a schedule its next tick, as it stood when the schedule was looked at. */
export interface Awaited {
  name: string;
  etag: string | undefined;
}

/** A schedule with the versions that its ticks are for; a clock's are known without a look. */
export async function knowVersions(
  store: Buckets,
  head: ScheduleHead,
): Promise<{ head: ScheduleHead; awaited: Awaited | undefined }> {
  const names = namesAwaited(head);
  if (names.length === 0) return { head, awaited: undefined };
  const found = await Promise.all(names.map((name) => readVersions(store, head.tenant, name)));
  const published = new Map<string, NameVersions>(
    found.map(({ versions, forgottenUntil }, i) => [names[i] ?? '', { versions, forgottenUntil }]),
  );
  const { trigger } = currentPeriod(head);
  const name = 'onPublish' in trigger && !head.stopped ? trigger.onPublish : undefined;
  const awaited = name === undefined ? undefined : { name, etag: found[names.indexOf(name)]?.etag };
  return { head: withVersions(head, published), awaited };
}

/** Which schedules wait for which names, by tenant: what is listed of a name is compared with what they have seen. */
export class AwaitedNames {
  readonly #tenants = new Map<string, Map<string, Map<string, Awaited>>>();

  set(tenant: string, key: string, before: Awaited | undefined, awaited: Awaited | undefined): void {
    if (before && before.name !== awaited?.name) this.#forget(tenant, key, before.name);
    if (!awaited) return;
    const names = this.#tenants.get(tenant) ?? new Map<string, Map<string, Awaited>>();
    this.#tenants.set(tenant, names);
    const keys = names.get(awaited.name) ?? new Map<string, Awaited>();
    names.set(awaited.name, keys.set(key, awaited));
  }

  has(tenant: string): boolean {
    return this.#tenants.has(tenant);
  }

  /** The schedules that wait for a name; with a tag, only those that have seen another one. */
  of(tenant: string, name: string, etag?: string): string[] {
    const keys = this.#tenants.get(tenant)?.get(name) ?? new Map<string, Awaited>();
    return [...keys].filter(([, seen]) => etag === undefined || seen.etag !== etag).map(([key]) => key);
  }

  clear(): void {
    this.#tenants.clear();
  }

  #forget(tenant: string, key: string, name: string): void {
    const names = this.#tenants.get(tenant);
    const keys = names?.get(name);
    keys?.delete(key);
    if (keys?.size === 0) names?.delete(name);
    if (names?.size === 0) this.#tenants.delete(tenant);
  }
}
