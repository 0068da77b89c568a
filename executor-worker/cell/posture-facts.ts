import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import type { PostureFacts } from '@hotcell/contract/posture.ts';

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
