import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Skip } from '@hotcell/client/walk.ts';
import ignore from 'ignore';
import { unreadable } from '@hotcell/client/file-errors.ts';
import type { Reporter } from './reporter.ts';

/** Never data: history, packages and what programs keep for themselves. `!NAME` in .hotcellignore or --exclude keeps one. */
const byDefault = [
  '.git',
  'node_modules',
  '__pycache__',
  '.venv',
  '.ipynb_checkpoints',
  '.DS_Store',
  '.hotcell',
  '.hotcellignore',
];

const secret =
  /^(?:\.env(?:\.(?!example$|sample$|template$).+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|\.pgpass|credentials(?:\.json)?|service[-_]account.{0,40}\.json|.+\.(?:pem|key|p12|pfx|jks|kdbx|ppk))$/i;

/** Each secret is worth a look; of what is left out anyway, a few examples do. */
const mostNamed = { secrets: 20, left: 5 } as const;
const named = (paths: readonly string[], most: number) =>
  paths.length > most ? `${paths.slice(0, most).join(', ')} and ${paths.length - most} more` : paths.join(', ');

/** What of a source is frozen, told by name: what is left out by default, and what looks like a secret. */
export class Choice {
  readonly #patterns: ReturnType<typeof ignore>;
  readonly #isDefault = ignore().add(byDefault);
  readonly #left: string[] = [];
  readonly #secrets: string[] = [];

  constructor(source: string, exclude: readonly string[]) {
    this.#patterns = ignore()
      .add(byDefault)
      .add(ignoreFileOf(source))
      .add([...exclude]);
    if (secret.test(basename(source))) this.#secrets.push(source);
  }

  readonly skip: Skip = (path, isFolder) => {
    // A name that no pattern can mean, like one that begins with a slash after a backslash, is kept.
    const asked = isFolder ? `${path}/` : path;
    if (ignore.isPathValid(asked) && this.#patterns.ignores(asked)) {
      if (this.#isDefault.ignores(asked) && basename(path) !== '.hotcellignore') this.#left.push(path);
      return true;
    }
    if (!isFolder && secret.test(basename(path))) this.#secrets.push(path);
    return false;
  };

  /** After the folder was walked. */
  tell({ note, warnings }: Pick<Reporter, 'note' | 'warnings'>): void {
    if (this.#left.length > 0)
      note(`Left out: ${named(this.#left, mostNamed.left)}. --exclude '!${basename(this.#left[0] ?? '')}' keeps one.`);
    if (this.#secrets.length > 0)
      warnings([
        `${named(this.#secrets, mostNamed.secrets)} ${this.#secrets.length === 1 ? 'looks' : 'look'} like a secret, and the record keeps what is frozen. Leave it out with --exclude, or list it in .hotcellignore.`,
      ]);
  }
}

function ignoreFileOf(source: string): string {
  const path = join(source, '.hotcellignore');
  try {
    return statSync(source).isDirectory() ? readFileSync(path, 'utf8') : '';
  } catch (cause) {
    // None, or a source that its reader reports.
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw unreadable(path, cause);
  }
}
