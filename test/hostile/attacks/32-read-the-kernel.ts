import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '32',
  tries: 'to read about the kernel and all its users in /proc',
  code: python`
observe(
    keys=told("proc/keys"),
    timers=told("proc/timer_list"),
    interrupts=told("proc/interrupts"),
    kcore=told("proc/kcore"),
    symbols=told("proc/kallsyms"),
    modules=told("proc/modules"),
)
`,
  deniedAnyway: {
    // Not every kernel has all of it.
    runc: { keys: false, timers: false, kcore: false, symbols: false, modules: false },
    gvisor: { keys: false, timers: false, kcore: false, symbols: false, modules: false },
  },
  sealed: { keys: false, timers: false, interrupts: false, kcore: false, symbols: false, modules: false },
};
