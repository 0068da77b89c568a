import { client, installation, keeper, notary, producer, worker } from './settings.ts';

const parts = [
  [
    'An installation',
    'Read by `./hotcell up` from the environment and kept in `config.env`. Every setting has a default or is generated.',
    installation,
  ],
  [
    'The command line',
    'Read from the environment only. With `HOTCELL_URL` (above) it asks another API than that of this installation; that needs `HOTCELL_API_KEY`.',
    client,
  ],
  [
    'The producer',
    '`docker-compose.yml` sets those that have no default here. `./hotcell up` passes on only the settings of an installation (above) and refuses the others: set these for a producer that you start by other means.',
    producer,
  ],
  [
    'A worker',
    '`docker-compose.yml` sets those that have no default here. `./hotcell up` passes on only the settings of an installation (above) and refuses the others: set these for worker hosts of your own.',
    worker,
  ],
  ['The keeper', '`docker-compose.yml` sets those that have no default here. It has no secret and no network.', keeper],
  ['The notary', '`docker-compose.yml` sets these.', notary],
] as const;

/** docs/configuration.md, whole. */
export function configuration(): string {
  const sections = parts.map(([title, about, rows]) => {
    const lines = Object.entries(rows)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, [fallback, meaning]]) => `| \`${name}\` | ${fallback} | ${meaning} |`);
    return [`## ${title}`, about, '', '| setting | default | meaning |', '|---|---|---|', ...lines].join('\n');
  });
  return `${[
    '# Configuration',
    'Every setting of every process, generated from the schemas that parse them (`sh setup/node.sh test/docs/generate.ts`). A secret may come from a file: set `NAME_FILE` instead of `NAME`. A process refuses a `HOTCELL_` variable that it does not know, and suggests the name that was probably meant.',
    ...sections,
  ].join('\n\n')}\n`;
}
