import { nearest } from './nearest.ts';

/** A package or program that a failed block said it lacks. It is the job's claim: only its form is checked. */
export interface Missing {
  what: 'Python module' | 'Node package' | 'R package' | 'program';
  name: string;
  /** What the package is called where it is got, if that differs from the name in the code. */
  package: string;
}

/** So much of the end of stderr is searched. */
export const searchedBytes = 8 * 1024;
const lineLength = 500;

/** Python's modules that come from a package of another name. */
const pythonPackages: Readonly<Record<string, string>> = {
  attr: 'attrs',
  bs4: 'beautifulsoup4',
  Crypto: 'pycryptodome',
  cv2: 'opencv-python-headless',
  dateutil: 'python-dateutil',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  faiss: 'faiss-cpu',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  jwt: 'PyJWT',
  magic: 'python-magic',
  MySQLdb: 'mysqlclient',
  OpenSSL: 'pyOpenSSL',
  PIL: 'pillow',
  pptx: 'python-pptx',
  psycopg2: 'psycopg2-binary',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  yaml: 'PyYAML',
  zmq: 'pyzmq',
};

/** Modules of the shipped images and of habit, to find a mistyped one by. */
const knownModules = [
  ...['numpy', 'pandas', 'matplotlib', 'scipy', 'polars', 'duckdb', 'pyarrow', 'requests', 'seaborn', 'sqlite3'],
  ...['statistics', 'itertools', 'functools', 'collections', 'datetime', 'subprocess', 'statsmodels', 'openpyxl'],
  ...Object.keys(pythonPackages),
];

interface Saying {
  what: Missing['what'];
  pattern: RegExp;
  exitCode?: number;
}

/** Each begins with fixed words and searches one line of bounded length: the job wrote it. */
const sayings: readonly Saying[] = [
  { what: 'Python module', pattern: /\bNo module named '?([A-Za-z_]\w{0,99})/ },
  { what: 'Node package', pattern: /\bCannot find (?:module|package) '((?:@[\w.-]{1,99}\/)?[a-z0-9][\w.-]{0,99})/ },
  { what: 'R package', pattern: /\bthere is no package called [‘'"]([A-Za-z][A-Za-z0-9.]{0,99})[’'"]/ },
  { what: 'program', pattern: /(?:^|: )([A-Za-z0-9_][\w.+-]{0,99}): (?:command )?not found$/, exitCode: 127 },
];

/** What the end of stderr says is missing; the last word counts. */
export function missingIn(stderr: string, exitCode: number): Missing | undefined {
  for (const line of stderr.split('\n').toReversed())
    for (const { what, pattern, exitCode: only } of sayings) {
      if (only !== undefined && only !== exitCode) continue;
      const name = pattern.exec(line.slice(0, lineLength).trimEnd())?.[1];
      if (name === undefined) continue;
      const known = what === 'Python module' && Object.hasOwn(pythonPackages, name) ? pythonPackages[name] : undefined;
      return { what, name, package: known ?? name };
    }
  return undefined;
}

export function missingReason({ what, name, package: from }: Missing): string {
  const where = from === name ? '' : ` (of the package ${from})`;
  const own = what === 'program' ? '' : ', or send it with the run’s files if it is your own';
  const near = what === 'Python module' && name.length > 4 ? nearest(name, knownModules) : undefined;
  const meant = near === undefined || near === name ? '' : ` Did you mean ${near}?`;
  return `By its last words it lacks the ${what} ${name}${where}: packages are part of the image, so use an image that has it${own}.${meant}`;
}

/** The package that a reason written here names. */
export function packageNamedIn(reason: string): { what: string; package: string } | undefined {
  const [, what, name, from] =
    /By its last words it lacks the (\w+ module|\w+ package|program) (\S+?)(?: \(of the package (\S+)\))?: packages /.exec(
      reason,
    ) ?? [];
  return what === undefined || name === undefined ? undefined : { what, package: from ?? name };
}
