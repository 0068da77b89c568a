import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import type { OwnInstallation } from '../support/own-installation.ts';
import { asSeen } from './seen.ts';
import { type Session, sessions } from './sessions.ts';
import { typeStep, type View, views } from './type-session.ts';

const golden = (name: string, view: View) => join(import.meta.dirname, 'golden', `${name}.${view}.txt`);

const notebook = {
  cells: [{ cell_type: 'code', source: ['!pip install seaborn\n'], metadata: {}, outputs: [], execution_count: 1 }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
};

const files: Readonly<Record<string, string>> = {
  'sales.csv': 'region,amount\nnorth,3\nsouth,4\n',
  'total.py': `import csv
rows = csv.DictReader(open("/inputs/sales/sales.csv"))
total = sum(int(row["amount"]) for row in rows)
print("total", total)
open("/outputs/total.txt", "w").write(f"{total}\\n")
`,
  'magic.ipynb': JSON.stringify(notebook),
};

/**
 * Each session is typed on a terminal of 80 and of 60 columns and through a pipe, and looks as it did. UPDATE_GOLDEN=1
 * writes what it looks like now.
 */
export function testSessions(installation: () => OwnInstallation): void {
  for (const session of sessions)
    describe(`the session ${session.name} looks as it did`, {
      concurrency: session.operator ? 1 : views.length,
    }, () => {
      for (const view of views)
        test(view === 'pipe' ? 'through a pipe' : `at ${view} columns`, async () => {
          const seen = await typed(installation(), session, view);
          const file = golden(session.name, view);
          if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, seen);
          assert.equal(seen, await readFile(file, 'utf8'));
        });
    });
}

async function typed(installation: OwnInstallation, { name, operator, steps }: Session, view: View): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'hotcell-session-'));
  try {
    await symlink(join(checkout, 'hotcell'), join(cwd, 'hotcell'));
    await mkdir(join(cwd, 'data'));
    for (const [path, text] of Object.entries(files)) await writeFile(join(cwd, path), text);
    const env = { ...installation.env, ...(operator ? {} : await newcomer(installation, `${name}-${view}`)) };
    let seen = '';
    for (const step of steps) seen += await typeStep(step, view, { cwd, env });
    return asSeen(seen, installation);
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** A tenant of one's own, so that `ls` and `@last` are of this session alone. */
async function newcomer({ hotcell, portBase }: OwnInstallation, tenant: string): Promise<Record<string, string>> {
  await hotcell('tenant', 'create', tenant);
  const { stdout } = await hotcell('apikey', 'create', '--tenant', tenant, '--role', 'submitter');
  return { HOTCELL_URL: `http://127.0.0.1:${portBase}`, HOTCELL_API_KEY: stdout.trim() };
}
