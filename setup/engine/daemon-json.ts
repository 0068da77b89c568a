import { HotcellError } from '@hotcell/contract/errors.ts';
import { z } from 'zod';

/**
 * Without --oci-seccomp gVisor ignores the cell's filter; without --network=none it lacks rights, fails, and leaves
 * processes behind.
 */
export const runscFlags = [
  '--network=none',
  '--platform=systrap',
  '--oci-seccomp',
  '--host-uds=none',
  '--host-fifo=none',
  '--overlay2=none',
];

const Runtime = z.looseObject({ path: z.string().optional(), runtimeArgs: z.array(z.string()).optional() });
const DaemonJson = z.looseObject({ runtimes: z.record(z.string(), Runtime).optional() });

function parsed(text: string | undefined): z.infer<typeof DaemonJson> {
  if (text === undefined || text.trim() === '') return {};
  try {
    return DaemonJson.parse(JSON.parse(text));
  } catch (cause) {
    const message = '/etc/docker/daemon.json is not valid. Correct it, then try again.';
    throw new HotcellError('engine_unavailable', message, { cause });
  }
}

export function registersRunsc(text: string | undefined): boolean {
  const args = parsed(text).runtimes?.runsc?.runtimeArgs ?? [];
  return runscFlags.every((flag) => args.includes(flag));
}

/** The engine's settings with gVisor registered. Everything else in the file stays as the operator wrote it. */
export function withRunsc(text: string | undefined, path = '/usr/bin/runsc'): string {
  const settings = parsed(text);
  const runtimes = { ...settings.runtimes, runsc: { path, runtimeArgs: runscFlags } };
  return `${JSON.stringify({ ...settings, runtimes }, null, 2)}\n`;
}
