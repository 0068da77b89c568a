import { type Check, fail, gib, isAtLeast, numbersOf, ok, warn } from './check.ts';
import type { Facts, MachineFacts } from './doctor-facts.ts';

const gibibyte = 1024 ** 3;
/** What the images and a first day of runs need. */
const roomy = 10 * gibibyte;
const cramped = 2 * gibibyte;

export function judgeNode({ node }: MachineFacts): Check {
  if ((numbersOf(node)[0] ?? 0) >= 24) return ok('node', `Node ${node}`);
  return fail('node', `Node ${node} is older than 24`, 'start Hotcell with ./hotcell, which brings its own Node');
}

export function judgeDisk({ disk }: MachineFacts): Check[] {
  return disk.map(({ path, freeBytes }) => {
    const message = `${gib(freeBytes)} free at ${path}`;
    const fix =
      'free some space: `docker system df` shows what the engine keeps, `docker builder prune` clears its build cache';
    if (freeBytes < cramped) return fail('disk', `${message}: nearly full, less than ${gib(cramped)}`, fix);
    if (freeBytes < roomy) return warn('disk', `${message}: images and records need ${gib(roomy)}`, fix);
    return ok('disk', message);
  });
}

export function judgeMemory({ memory, engine }: MachineFacts): Check {
  const total = Math.min(memory.totalBytes, engine?.memoryBytes ?? memory.totalBytes);
  const message = `${gib(total)}, ${gib(memory.availableBytes)} available`;
  if (total < 1.8 * gibibyte)
    return fail(
      'memory',
      `${message}: less than 2 GiB`,
      "give the machine (or the engine's virtual machine) more memory",
    );
  if (memory.availableBytes < 1.5 * gibibyte)
    return warn('memory', `${message}: services and one cell need 1.5 GiB`, 'close other programs, or add memory');
  return ok('memory', message);
}

const madeIn = Date.parse('2026-01-01T00:00:00Z');

/** Signatures, retention and evidence carry times: with clocks that differ, the store refuses and records are wrong. */
export function judgeClock({ now, engine }: MachineFacts): Check {
  if (Date.parse(now) < madeIn) return fail('clock', `this machine's clock says ${now}`, '`timedatectl set-ntp true`');
  const skew = Math.abs(engine?.clockSkewMs ?? 0);
  const message = `the clocks of this machine and of the engine differ by ${(skew / 1000).toFixed(1)} s`;
  if (skew > 60_000)
    return fail('clock', message, "restart the engine's virtual machine, or `timedatectl set-ntp true`");
  if (skew > 5_000)
    return warn('clock', message, "restart the engine's virtual machine, or `timedatectl set-ntp true`");
  return ok('clock', now);
}

export function judgePorts({ ports }: Facts): Check {
  const taken = ports.filter((port) => port.state === 'taken');
  if (taken.length > 0) {
    const message = taken.map(
      ({ holder, port, service }) => `${holder ?? `port ${port} is taken`}, which ${service} needs`,
    );
    return fail('ports', message.join('; '), 'stop it, or set HOTCELL_PORT_BASE to the first of three free ports');
  }
  return ok('ports', ports.map(({ port, service, state }) => `${port} ${service} (${state})`).join(', '));
}

export function judgeArchitecture({ arch, engine }: MachineFacts): Check[] {
  if (['x64', 'arm64'].includes(arch)) return [];
  return engine ? [fail('architecture', `Hotcell has no seccomp profile for ${arch}, only for x86-64 and arm64`)] : [];
}

export const oldKernel = ({ engine }: MachineFacts): Check[] =>
  engine && !isAtLeast(engine.kernel, [5, 10])
    ? [warn('kernel', `Linux ${engine.kernel} gets no more fixes`, 'upgrade to 5.10 or newer')]
    : [];

/** With a pipe, the kernel runs that program as root of the host and gives it the memory of whatever crashed. */
export function judgeCores({ corePattern }: MachineFacts): Check[] {
  if (!corePattern.startsWith('|')) return [];
  const program = corePattern.slice(1).trim().split(/\s+/)[0] ?? '';
  const message = `the kernel pipes cores to ${program}, as root. Cells have the limit of cores that keeps theirs from it; containers of others may not`;
  return [warn('cores', message, '`sysctl -w kernel.core_pattern=core`')];
}
