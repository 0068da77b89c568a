import type { KnipConfig } from 'knip';

const room = { project: ['**/*.ts'], includeEntryExports: true };

export default {
  // Without its tests, a file's export has to be of use to another file or at least to itself.
  ignoreExportsUsedInFile: process.argv.includes('--strict'),
  ignoreDependencies: ['node'],
  workspaces: {
    '.': {
      entry: [
        'test/**/*.test.ts',
        'test/{,check/,mutate/,soak/}main.ts',
        'test/support/stall-watch.ts',
        'test/docs/generate.ts',
        'test/faults/victims/*.ts',
        'test/hostile/attacks/*.ts',
        'test/cell/worker-that-dies.ts',
        'test/queue/hold-ticket.ts',
        'test/cell/benign/node/*.ts',
        'bench/*.ts',
        'bench/support/*.process.ts',
        'test/soak/*.process.ts',
      ],
      project: ['test/**/*.ts', 'bench/**/*.ts'],
    },
    '*': room,
    'clients/*': room,
  },
} satisfies KnipConfig;
