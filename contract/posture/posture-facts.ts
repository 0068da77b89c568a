import { postureFields, type PostureKind, type PostureRecord } from '../frames-posture.ts';
import type { CellRuntime } from '../cell-shape.ts';
import type { PostureFacts } from '../posture.ts';

/** The records as facts for the run's result: for each kind of record a list of lines, `field=value …`. */
export function insideFacts(records: readonly PostureRecord[]): PostureFacts {
  const facts: Record<string, string[]> = {};
  for (const { key, ...fields } of records) {
    const line = Object.entries(fields)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' ');
    (facts[key] ??= []).push(line);
  }
  const { mount, device } = facts;
  return {
    ...facts,
    ...(mount && { mount: mount.map(withoutDescriptors).sort(byPlace) }),
    ...(device && { device: device.toSorted(byPlace) }),
  };
}

/** gVisor numbers the descriptors behind its mounts as they come, and engines mount in any order: they tell nothing. */
const withoutDescriptors = (line: string) => line.replaceAll(/\b([rw]fdno)=\d+/g, '$1=any');

/** Both come in any order. Of mounts at one point, the later hides the earlier: these keep their order. */
function byPlace(a: string, b: string): number {
  const [one = '', other = ''] = [a.split(' ', 1)[0], b.split(' ', 1)[0]];
  return one < other ? -1 : Number(one > other);
}

/** What the testimony is worth on each runtime; `witness` is whose word the view from outside is. */
export const postureWorth = (runtime: CellRuntime, witness: string) =>
  ({
    runc: `Our static program inside the cell asked the host’s kernel, by system calls and /proc; ${witness} was compared with it. This is worth as much as that kernel: code that takes the kernel over can make it say anything.`,
    gvisor: `Our static program inside the cell asked gVisor’s kernel, not the host’s: this is the sentry’s word about itself. Only ${witness} tells what confines the sentry on the host.`,
  })[runtime];

/** The records again, from the lines of a result. A line that is not one of ours gives no record. */
export function recordsIn(facts: PostureFacts): PostureRecord[] {
  const records: PostureRecord[] = [];
  for (const [key, { fields }] of Object.entries(postureFields)) {
    const lines = facts[key];
    if (!Array.isArray(lines)) continue;
    for (const line of lines) {
      const values = valuesIn(line, Object.entries(fields));
      if (values) records.push({ key, ...values } as PostureRecord);
    }
  }
  return records;
}

/** The fields stand in their order, and each value goes as far as the next one's name. */
function valuesIn(line: string, fields: readonly [string, PostureKind][]): Record<string, string | number> | undefined {
  const values: Record<string, string | number> = {};
  let rest = line;
  for (const [i, [name, kind]] of fields.entries()) {
    if (!rest.startsWith(`${name}=`)) return undefined;
    const next = fields[i + 1];
    const end = next ? rest.indexOf(` ${next[0]}=`, name.length + 1) : rest.length;
    if (end < 0) return undefined;
    const text = rest.slice(name.length + 1, end);
    values[name] = kind === 'int' || (kind === 'size' && text !== 'unlimited') ? Number(text) : text;
    rest = rest.slice(end + 1);
  }
  return values;
}
