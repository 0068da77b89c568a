import { writeFile } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeyList, ListedKey } from '@hotcell/contract/evidence/key-list.ts';
import { keyRequests } from '@hotcell/record/stored-key-list.ts';
import { emptyList, withKeys, withRevoked } from '@hotcell/setup/keys/key-list-changes.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { settingsOf } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { printRows } from './columns.ts';
import { globalsOf, subcommand } from './globals.ts';
import { openKeys } from './keys/operator-keys.ts';
import { changed, fingerprintOf, refuseUnasked, told } from './keys/change-list.ts';
import { rotateOwn, rotateTheRoot, successionOf } from './keys/rotate-keys.ts';
import { putSigned, signDraft, writeDraft } from './keys/sign-elsewhere.ts';
import { aTime } from './time-option.ts';

/** For the operator: it uses the operator's account of the store, and the root's key. */
export function define(command: Command): void {
  const ls = subcommand(command, 'ls', 'list the signing keys, and those that wait to be listed', [
    'key ls',
    'key ls --json',
  ]);
  ls.action(async () => {
    using keys = await openKeys();
    const { list } = (await keys.stored()) ?? { list: emptyList(keys.installation.id) };
    const known = new Set(list.keys.map(({ fingerprint }) => fingerprint));
    const waiting = (await keyRequests(keys.store)).filter(({ fingerprint }) => !known.has(fingerprint));
    const rows = [
      ...list.keys.map((key) => ({ ...key, state: stateOf(key) })),
      ...(list.retiredRoots ?? []).map((one) => ({
        ...one,
        role: 'root',
        name: 'root',
        from: '',
        state: stateOf(one),
      })),
      ...waiting.map(({ role, name, fingerprint, madeAt }) => ({
        role,
        name,
        fingerprint,
        from: madeAt,
        state: 'waits',
      })),
    ];
    printRows(globalsOf(ls), rows, ['ROLE', 'NAME', 'FINGERPRINT', 'FROM', 'STATE'], (row) => [
      row.role,
      row.name,
      row.fingerprint,
      row.from,
      row.state,
    ]);
  });

  const sign = subcommand(command, 'sign-list', 'put keys that wait on the list, and sign it with the root’s key', [
    'key sign-list sha256:…',
    'key sign-list sha256:… --draft draft.json',
    'key sign-list --from draft.json --root root.pem -o list.json',
    'key sign-list --from list.json',
  ])
    .argument('[fingerprint...]', 'as the process logs it on its own host')
    .option('--draft <file>', 'write the list into this file, to be signed where the root’s key is')
    .option('--from <file>', 'sign this draft with --root; without it, put this signed list into the record')
    .option('--root <file>', 'the root’s private key, on the machine that keeps it')
    .option('-o, --out <file>', 'with --root: write the signed list into this file');
  sign.action(async (said: string[], asked: SignAsked) => {
    if (asked.from !== undefined && asked.root !== undefined) return await signHere(asked.from, asked.root, asked.out);
    using keys = await openKeys();
    if (asked.from !== undefined) return told(sign, await putSigned(keys, asked.from));
    if (said.length === 0) throw new HotcellError('invalid', 'Name the keys to list, or give --from FILE.');
    const wanted = said.map((one) => fingerprintOf(one));
    const requests = (await keyRequests(keys.store)).filter(({ fingerprint }) => wanted.includes(fingerprint));
    refuseUnasked(wanted, requests);
    const change = (list: KeyList, now: Date) => withKeys(list, requests, now);
    if (asked.draft === undefined) return await changed(sign, keys, change);
    const before = await keys.stored();
    const list = change(before?.list ?? emptyList(keys.installation.id), new Date());
    await writeDraft(list, before?.root, asked.draft);
  });

  const rotate = subcommand(command, 'rotate', 'put another key in the place of one; what was signed stays valid', [
    'key rotate worker',
    'key rotate sha256:… --by sha256:…',
    'key rotate root',
  ])
    .argument('<which>', 'producer or worker of this machine, root, or the fingerprint of a key on the list')
    .option('--by <fingerprint>', 'of another host’s process: the new key that it asks for');
  rotate.action(async (which: string, { by }: { by?: string }) => {
    if (which === 'root') return await rotateTheRoot(rotate);
    if (which === 'producer' || which === 'worker') return await rotateOwn(rotate, which);
    using keys = await openKeys();
    await changed(rotate, keys, await successionOf(keys, fingerprintOf(which), by));
  });

  const revoke = subcommand(command, 'revoke', 'declare what a key signed since then worthless', [
    'key revoke sha256:… --since 2026-11-19T10:00:00Z --reason "host taken over"',
  ])
    .argument('<fingerprint>', 'as shown by ls')
    .requiredOption('--since <time>', 'when it was last certain that only its process had it', aTime)
    .option('--reason <text>', 'why, for readers of the list');
  revoke.action(async (said: string, { since, reason }: { since: Date; reason?: string }) => {
    using keys = await openKeys();
    await changed(revoke, keys, (list, now) => withRevoked(list, fingerprintOf(said), since, reason, now));
  });

  const root = subcommand(command, 'export-root', 'print the public key of the root, for those who verify elsewhere', [
    'key export-root > root.pem',
  ]).option('-o, --out <file>', 'write it into this file');
  root.action(async ({ out }: { out?: string }) => {
    const roots = await trustedRoots({ home: (await settingsOf(process.env)).home });
    const pem = roots.map((one) => one.pem).join('');
    if (out !== undefined) await writeFile(out, pem);
    else process.stdout.write(pem);
  });
}

interface SignAsked {
  draft?: string;
  from?: string;
  root?: string;
  out?: string;
}

async function signHere(draft: string, root: string, out: string | undefined): Promise<void> {
  const text = await signDraft(draft, root);
  if (out !== undefined) await writeFile(out, text);
  else process.stdout.write(text);
}

function stateOf({ revokedSince, until }: Pick<ListedKey, 'revokedSince' | 'until'>): string {
  if (revokedSince) return `revoked since ${revokedSince}`;
  return until ? `until ${until}` : 'in use';
}
