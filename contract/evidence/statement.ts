import { z } from 'zod';
import { Digest } from '../digest.ts';

/** in-toto Statement v1 with SLSA provenance v1, as Hotcell fills them. */
export const statementType = 'application/vnd.in-toto+json';
export const statementV1 = 'https://in-toto.io/Statement/v1';
export const provenanceV1 = 'https://slsa.dev/provenance/v1';
/** Names the template of a predicate: what stands in its parameters. Statements of earlier ones stay verifiable. */
export const BuildType = z.enum(['urn:hotcell:run:v1', 'urn:hotcell:run:v2', 'urn:hotcell:run:v3']);
export type BuildType = z.infer<typeof BuildType>;
export const newestBuildType: BuildType = 'urn:hotcell:run:v3';

/** From the second on, the receipt and the posture's form; from the third on, approvals, and the policy of a refusal is kept. */
export function isSince(template: BuildType, first: BuildType): boolean {
  return BuildType.options.indexOf(template) >= BuildType.options.indexOf(first);
}
/** Of an attempt at a run that did not end it. */
export const attemptBuildType = 'urn:hotcell:attempt:v1';
export const subjectNames = {
  result: 'result.json',
  outputs: 'outputs.manifest.json',
  attempt: 'attempt.json',
} as const;

const Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits');
const ResourceDigest = z.strictObject({ sha256: Hex });
export const Resource = z.strictObject({
  name: z.string(),
  uri: z.string().optional(),
  digest: ResourceDigest,
  annotations: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type Resource = z.infer<typeof Resource>;

const parameters = z.record(z.string(), z.json());
const subject = <Name extends string>(name: Name) => z.strictObject({ name: z.literal(name), digest: ResourceDigest });

const about = <S extends z.ZodType, B extends z.ZodType>(subjects: S, buildType: B) =>
  z.strictObject({
    _type: z.literal(statementV1),
    subject: subjects,
    predicateType: z.literal(provenanceV1),
    predicate: z.strictObject({
      buildDefinition: z.strictObject({
        buildType,
        externalParameters: parameters,
        internalParameters: parameters,
        resolvedDependencies: z.array(Resource),
      }),
      runDetails: z.strictObject({
        builder: z.strictObject({ id: z.string(), version: z.record(z.string(), z.string()) }),
        metadata: z.looseObject({
          invocationId: z.string(),
          startedOn: z.string(),
          finishedOn: z.string(),
          hotcell_signer: z.strictObject({ role: z.string(), name: z.string(), key: Digest }),
          hotcell_host: z.strictObject({ kernel: z.string(), machine: z.string() }),
        }),
        byproducts: z.array(Resource),
      }),
    }),
  });

export const Statement = about(z.tuple([subject(subjectNames.result), subject(subjectNames.outputs)]), BuildType);
export type Statement = z.infer<typeof Statement>;

export const AttemptStatement = about(z.tuple([subject(subjectNames.attempt)]), z.literal(attemptBuildType));
export type AttemptStatement = z.infer<typeof AttemptStatement>;
