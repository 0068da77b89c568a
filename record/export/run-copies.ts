import { canonical } from '@hotcell/contract/digest.ts';
import { attestedForm, attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import { languages } from '@hotcell/contract/languages.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { exportPaths } from './export-layout.ts';

/** A file of an export that says again, for other tools and for readers, what another file says under a signature. */
export interface RunCopy {
  path: string;
  bytes: Buffer;
}

/** All of a run. A verifier makes them again, and compares. */
export function runCopies(run: RunId, result: Result | undefined, spec: Spec | undefined): RunCopy[] {
  return [...(result ? resultCopies(run, result) : []), ...(spec ? codeCopies(run, spec) : [])];
}

function resultCopies(run: RunId, result: Result): RunCopy[] {
  const attested = { path: exportPaths.attested(run), bytes: attestedForm(attestedPart(result)).bytes };
  // The statement names it in any case: of a run without outputs it is empty.
  const manifest = { path: exportPaths.manifest(run), bytes: Buffer.alloc(0) };
  return result.outputs.snapshot === null ? [attested, manifest] : [attested];
}

/** Block 0 of the statement, `code/0`, is `code/0.py` here, for the sake of editors. */
function codeCopies(run: RunId, { blocks, files, params }: Spec): RunCopy[] {
  const folder = `${exportPaths.run(run)}code/`;
  const code = blocks.flatMap((block, index) =>
    'code' in block ? [{ path: `${folder}${index}${endingOf(block.language)}`, bytes: Buffer.from(block.code) }] : [],
  );
  const bundled = files.map((file) => ({
    path: `${folder}files/${file.path}`,
    bytes: 'text' in file ? Buffer.from(file.text) : Buffer.from(file.base64, 'base64'),
  }));
  return [...code, ...bundled, { path: `${folder}params.json`, bytes: Buffer.from(canonical(params)) }];
}

function endingOf(language: string): string {
  return languages.find(({ name, aliases }) => name === language || aliases.includes(language))?.ending ?? '.txt';
}
