import type { Effective } from '../admission.ts';
import { canonical, type Digest, hexOf, sha256 } from '../digest.ts';
import type { Block, Spec } from '../spec.ts';
import { limitNames } from '../limits.ts';
import { committedAttempt, endingAttempt } from '../result.ts';
import type { AttestedForm, AttestedResult } from './attested-result.ts';
import { limitEnforcement } from './limit-enforcement.ts';
import {
  type BuildType,
  isSince,
  newestBuildType,
  provenanceV1,
  type Resource,
  type Statement,
  statementV1,
  subjectNames,
} from './statement.ts';

/** What only the signer knows: everything else in a statement follows from what is in the record. */
export interface SignerFacts {
  role: string;
  name: string;
  key: Digest;
  /** Of Hotcell. */
  version: string;
  host: { kernel: string; machine: string };
}

export interface AttestedRun {
  result: AttestedResult;
  form: Pick<AttestedForm, 'digest' | 'posture'>;
  /** What was asked; undefined for a refusal, and where the signer did not get as far as reading it. */
  spec: Spec | undefined;
  /** What the pinned policy let this run have, if it was judged. */
  effective: Effective | undefined;
  /** Which try of the run this is: its number and its claim. */
  attempt: string;
  /** Of the promise in the result, which stands beside what is attested. */
  receipt: Digest | null;
  /** That of the signer's version; the newest if it is left out. */
  template?: BuildType;
}

/**
 * The statement about how a run, or one attempt at it, ended. It is a pure function of what is in the record and of the
 * signer's own facts, so a verifier makes it again and compares every field.
 */
export function statementOf(attested: AttestedRun, signer: SignerFacts): Statement {
  const { result, form, attempt, spec, template = newestBuildType } = attested;
  const code = (spec?.blocks ?? []).map((block) => ('code' in block ? sha256(block.code) : undefined));
  const run = { ...attested, code };
  const { tenant, outputs, timings } = result;
  const began = endingAttempt(result)?.startedAt ?? timings.acceptedAt;
  return {
    _type: statementV1,
    subject: [
      { name: subjectNames.result, digest: { sha256: hexOf(form.digest) } },
      { name: subjectNames.outputs, digest: { sha256: hexOf(outputs.snapshot ?? emptyManifest) } },
    ],
    predicateType: provenanceV1,
    predicate: {
      buildDefinition: {
        buildType: template,
        externalParameters: { ...asked(run), ...(isSince(template, 'urn:hotcell:run:v3') ? { approvals } : {}) },
        internalParameters: { ...given(run), ...(isSince(template, 'urn:hotcell:run:v2') ? bound(run) : {}) },
        resolvedDependencies: dependencies(run),
      },
      runDetails: {
        builder: { id: `urn:hotcell:builder:${makerOf(result)}`, version: { hotcell: signer.version } },
        metadata: {
          invocationId: `${tenant}/${result.run}/${attempt}`,
          startedOn: began,
          finishedOn: timings.finishedAt,
          hotcell_clock: 'Times are those of the operator’s hosts.',
          hotcell_signer: { role: signer.role, name: signer.name, key: signer.key },
          hotcell_host: signer.host,
          hotcell_outcome: {
            outcome: result.outcome,
            reason: result.reason,
            exitCode: result.exitCode,
            blocks: result.blocks.map(({ index, exitCode, signal, outcome }) => ({ index, exitCode, signal, outcome })),
            ...(result.errors ? { errors: result.errors } : {}),
          },
          hotcell_usage: result.usage,
          hotcell_timings: timings,
        },
        byproducts: byproducts(result),
      },
    },
  };
}

/** With the digest of each block that has code. */
type Attesting = AttestedRun & { code: readonly (Digest | undefined)[] };

/** Of a run without outputs: the manifest is an empty file. */
const emptyManifest: Digest = sha256('');

type Parameters = Statement['predicate']['buildDefinition']['externalParameters'];

/** None can be given yet: a policy that asks for one refuses every run. */
const approvals: Parameters[string] = [];

/** The submitter's: who asked for what. */
function asked({ result, spec, code }: Attesting): Parameters {
  const { run, tenant, requester, labels, inputs } = result;
  const base = { run, tenant, requester, labels };
  const snapshots = Object.fromEntries(inputs.map(({ name, snapshot }) => [name, snapshot]));
  const workspace = result.workspace ? { workspace: result.workspace.before } : {};
  if (!spec) return { ...base, spec: result.spec, inputs: snapshots, ...workspace };
  return {
    ...base,
    ...workspace,
    spec: result.spec,
    acceptedAt: spec.acceptedAt,
    blocks: spec.blocks.map((block, i) => blockOf(block, i, code[i])),
    files: spec.files.map((file) => {
      const bytes = 'text' in file ? Buffer.from(file.text) : Buffer.from(file.base64, 'base64');
      return { path: file.path, bytes: bytes.length, sha256: hexOf(sha256(bytes)) };
    }),
    params: hexOf(sha256(canonical(spec.params))),
    env: Object.keys(spec.env).toSorted(),
    inputs: snapshots,
    image: spec.image.ref,
    policy: spec.policy.name,
    limits: Object.fromEntries(
      limitNames.flatMap((name) => (spec.limits[name] === undefined ? [] : [[name, spec.limits[name]]])),
    ),
    priority: spec.priority,
    screening: spec.warnings,
    ...(spec.publish === undefined ? {} : { publish: spec.publish }),
    ...(spec.workspacePublish === undefined ? {} : { workspacePublish: spec.workspacePublish }),
    ...(spec.retry === undefined ? {} : { retry: spec.retry }),
    ...(spec.notBefore === undefined ? {} : { notBefore: spec.notBefore }),
    ...(spec.retention === undefined ? {} : { retention: spec.retention }),
  };
}

function blockOf(block: Block, index: number, code: Digest | undefined): Parameters[string] {
  if ('argv' in block) return { index, argv: block.argv };
  const { language, file } = block;
  return { index, language, sha256: code ? hexOf(code) : null, ...(file === undefined ? {} : { file }) };
}

/** The operator's: under what the run was executed. */
function given({ result, form, spec, effective }: AttestedRun): Parameters {
  const { policy, runtime, posture, limits } = result;
  const own = endingAttempt(result);
  return {
    policy,
    runtime,
    cells: makerOf(result),
    limits: limits
      ? Object.fromEntries(
          limitNames.map((name) => [
            name,
            { asked: spec?.limits[name] ?? null, effective: limits[name], enforcedBy: limitEnforcement[name] },
          ]),
        )
      : null,
    logs: effective ? { pastLimit: effective.logs.pastLimit } : null,
    seccomp: effective ? { ...effective.seccomp } : null,
    posture: posture ? { sha256: form.posture ? hexOf(form.posture) : null, worth: posture.worth } : null,
    attempt: own ? { number: own.attempt, claim: own.claim ?? null, worker: own.worker } : null,
  };
}

/** What the first template did not bind. */
function bound({ result: { posture }, receipt }: AttestedRun): Parameters {
  return {
    receipt: receipt && hexOf(receipt),
    postureForm: posture?.digest === undefined ? null : hexOf(posture.digest),
  };
}

/** Everything that went in, by digest. */
function dependencies({ result, spec, effective, code }: Attesting): Resource[] {
  const { policy, image, inputs, posture, workspace } = result;
  const init = lineOf(posture?.inside['init'], 'sha256');
  const resource = (name: string, digest: Digest, uri?: string): Resource => ({
    name,
    ...(uri === undefined ? {} : { uri }),
    digest: { sha256: hexOf(digest) },
  });
  return [
    ...(result.spec && spec ? [resource('spec.json', result.spec)] : []),
    ...(policy ? [resource('policy.json', policy.digest)] : []),
    ...(image ? [resource('image', image.digest, `urn:hotcell:image:${encodeURIComponent(image.ref)}`)] : []),
    ...(effective?.packages ? [resource('image.packages.json', effective.packages)] : []),
    ...Object.entries(effective?.seccomp ?? {})
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, digest]) => resource(`seccomp/${name}.json`, digest)),
    ...(effective?.preload ? [resource(`preloads/${effective.preload.name}.py`, effective.preload.digest)] : []),
    ...(init ? [resource('cell-init', `sha256:${init}`)] : []),
    ...code.flatMap((digest, i) => (digest ? [resource(`code/${i}`, digest)] : [])),
    ...inputs.flatMap(({ name, snapshot, locations }) => [
      resource(`inputs/${name}.jsonl`, snapshot),
      ...(locations ? [resource(`inputs/${name}.locations.jsonl`, locations)] : []),
    ]),
    ...(workspace
      ? [
          resource('workspace.before.jsonl', workspace.before),
          resource('workspace.before.locations.jsonl', workspace.locations),
        ]
      : []),
  ];
}

function byproducts(result: AttestedResult): Resource[] {
  const { logs, outputs, usage, workspace } = result;
  const attempt = committedAttempt(result);
  return [
    ...(logs.sha256 && attempt
      ? [
          {
            name: 'log.ndjson.zst',
            digest: { sha256: hexOf(logs.sha256) },
            annotations: { bytes: logs.bytes, truncated: logs.truncated },
          },
        ]
      : []),
    ...(outputs.snapshot
      ? [
          {
            name: 'outputs.manifest.json',
            digest: { sha256: hexOf(outputs.snapshot) },
            annotations: { files: usage.outputFiles, bytes: usage.outputBytes, refused: outputs.refused.length },
          },
        ]
      : []),
    ...(workspace?.after
      ? [
          {
            name: 'workspace.after.jsonl',
            digest: { sha256: hexOf(workspace.after) },
            annotations: { files: workspace.files, bytes: workspace.bytes, refused: workspace.refused.length },
          },
        ]
      : []),
  ];
}

/** What made the cell and with which runtime: one builder for each mode of isolation. */
function makerOf({ posture, runtime }: Pick<AttestedResult, 'posture' | 'runtime'>): string {
  if (!posture) return 'none';
  return `${posture.outside['maker'] === 'keeper' ? 'keeper' : 'engine'}:${runtime ?? 'unknown'}`;
}

function lineOf(lines: unknown, name: string): string | undefined {
  const [line] = Array.isArray(lines) ? lines : [];
  return new RegExp(`(?:^| )${name}=([0-9a-f]{64})(?: |$)`).exec(String(line))?.[1];
}
