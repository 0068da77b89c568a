import { client, installation, notary, producer, worker } from './settings.ts';

const parts = [
  [
    'An installation',
    'Given to `./hotcell up` in the environment and kept in `config.env`; everything has a default or is generated.',
    installation,
  ],
  ['The command line', 'Read from the environment alone.', client],
  ['The producer', 'Set by `docker-compose.yml`; for those who start it by other means.', producer],
  ['A worker', 'Set by `docker-compose.yml`; for worker hosts of your own.', worker],
  ['The notary', 'Set by `docker-compose.yml`.', notary],
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
    'Every setting of every process, made from the schemas that parse them (`node test/docs/generate.ts`). A secret may come as a file: `NAME_FILE` instead of `NAME`. A `HOTCELL_` variable that the process does not know is refused, with the name that was probably meant.',
    ...sections,
  ].join('\n\n')}\n`;
}
