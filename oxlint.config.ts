import { defineConfig, type OxlintOverride } from 'oxlint';

const rooms = [
  ...[
    'contract',
    'mcp',
    'outside',
    'record',
    'policies',
    'setup',
    'producer',
    'executor-worker',
    'keeper',
    'notary',
    'clients',
  ],
  ...['test', 'bench'],
];

/** Each library that talks to something outside has one folder in outside/: everything else goes through that. */
const doors: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/.+': ['store'],
  undici: ['store'],
  bullmq: ['queue'],
  ioredis: ['queue', 'live'],
  dockerode: ['engine'],
  pino: ['process'],
};

const keyless = 'Keys are built, and objects read and written, in record/ alone: use its functions.';

/** What manifests cannot say, since they speak of packages: paths that lead out of a room, and doors within outside/. */
function refuse(files: string, folders: readonly string[], libraries: readonly string[]): OxlintOverride {
  const patterns = [
    { regex: `^(\\.\\./)+(${folders.join('|')})/`, message: 'Import other rooms by the names of their packages.' },
    ...(files.startsWith('record/')
      ? []
      : [{ regex: '^@hotcell/record/(layout|objects|read-write)\\.ts$', message: keyless }]),
    ...libraries.map((name) => ({ regex: `^${name}$`, message: `Go through outside/${doors[name]?.[0]}.` })),
  ];
  return { files: [files], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error' },
  options: { typeAware: true },
  rules: {
    eqeqeq: 'error',
    'no-console': 'off',
    'unicorn/no-useless-spread': 'off',
    'no-control-regex': 'off',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['describe', 'test', 'it', 'suite'] }],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/no-unnecessary-type-assertion': 'error',
    'import/no-cycle': 'error',
  },
  ignorePatterns: ['node_modules', '.hotcell*'],
  overrides: [
    ...rooms.slice(0, -2).map((room) =>
      // producer/policies/ is a folder of its own, and the producer may import the room of that name anyway.
      refuse(
        `${room}/**`,
        rooms.filter((other) => other !== 'policies' || room !== 'producer'),
        Object.keys(doors),
      ),
    ),
    ...['store', 'queue', 'live', 'engine', 'process'].map((folder) =>
      refuse(
        `outside/${folder}/**`,
        rooms,
        Object.keys(doors).filter((name) => !doors[name]?.includes(folder)),
      ),
    ),
  ],
});
