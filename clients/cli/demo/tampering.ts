import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { payloadOf, seal } from '@hotcell/contract/evidence/dsse.ts';
import { bundleOf, readBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Finding } from '@hotcell/contract/evidence/verdict.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { Result } from '@hotcell/contract/result.ts';

/** One way to forge the evidence of a run, and what verification has to find. */
export interface Tampering {
  what: string;
  verdict: Finding['verdict'];
  /** The file in the run's folder that has to be named. */
  file: string;
  edit(folder: string): Promise<void>;
}

/** What an insider with every right to the bucket might try, from the clumsy to the careful. */
export const tamperings: readonly Tampering[] = [
  {
    what: 'changes a digit in an output',
    verdict: 'MODIFIED',
    file: 'outputs/',
    edit: async (folder) => {
      const [path = ''] = (await readdir(join(folder, 'outputs'), { recursive: true })).filter((name) =>
        name.endsWith('.csv'),
      );
      await change(join(folder, 'outputs', path), (text) =>
        text.replace(/[0-9](?=\n*$)/, (digit) => otherDigit(digit)),
      );
    },
  },
  {
    what: 'removes the log',
    verdict: 'MISSING',
    file: 'log.ndjson.zst',
    edit: async (folder) => rm(join(folder, 'log.ndjson.zst')),
  },
  {
    what: 'writes another user into the result, in both of its forms',
    verdict: 'MODIFIED',
    file: 'committed.json',
    edit: async (folder) => {
      for (const name of ['committed.json', 'result.json'])
        await change(join(folder, name), (text) => text.replace(/"key":"[^"]*","role"/, '"key":"someone","role"'));
    },
  },
  {
    what: 'changes the policy under which the run was judged',
    verdict: 'MODIFIED',
    file: 'policy.json',
    edit: async (folder) =>
      change(join(folder, 'policy.json'), (text) => {
        const policy = parseJsonAs(Policy, text, 'the policy');
        return canonical({ ...policy, name: 'anything-goes' });
      }),
  },
  {
    what: 'signs the statement again with a key of its own, and names it in the result',
    verdict: 'UNSIGNED',
    file: 'evidence.sigstore.json',
    edit: signAgain,
  },
];

async function signAgain(folder: string): Promise<void> {
  const at = join(folder, 'evidence.sigstore.json');
  const { dsseEnvelope } = readBundle(await readFile(at, 'utf8'));
  const key = new SigningKey(SigningKey.generate());
  const { text } = bundleOf(seal(key, dsseEnvelope.payloadType, payloadOf(dsseEnvelope)), key.fingerprint);
  await writeFile(at, text);
  await change(join(folder, 'committed.json'), (before) => {
    const result = parseJsonAs(Result, before, 'the result');
    return canonical({ ...result, evidence: { ...result.evidence, sha256: sha256(text) } });
  });
}

async function change(path: string, edit: (text: string) => string): Promise<void> {
  const before = await readFile(path, 'utf8');
  const after = edit(before);
  if (after === before) throw new HotcellError('internal', `The demo found nothing to change in ${path}.`);
  await writeFile(path, after);
}

const otherDigit = (digit: string) => String((Number(digit) + 1) % 10);

/** A copy of an export in which one thing was changed. */
export async function tampered(unpacked: string, run: string, how: Tampering, into: string): Promise<void> {
  await cp(unpacked, into, { recursive: true });
  await how.edit(join(into, 'runs', run));
}

/** The finding that names the change, if there is one. */
export function foundIn(findings: readonly Finding[], { verdict, file }: Tampering): Finding | undefined {
  return findings.find((one) => one.verdict === verdict && one.object.includes(`/${file}`));
}
