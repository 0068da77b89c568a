import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import { recordKeys } from './layout.ts';

/** Under which keys of the record a run's objects are, for a person who looks with other tools. */
export function placesOf(result: Result): [what: string, key: string][] {
  const { tenant, run, inputs, outputs, workspace } = result;
  const attempt = committedAttempt(result);
  return [
    ['what was asked', recordKeys.spec(tenant, run)],
    ...(attempt ? [['its log', recordKeys.log(tenant, run, attempt)] satisfies [string, string]] : []),
    ['its result', recordKeys.result(tenant, run)],
    ...(result.evidence ? [['its evidence', result.evidence.bundle] satisfies [string, string]] : []),
    ...inputs.map(({ name, snapshot }): [string, string] => [`input ${name}`, recordKeys.manifest(tenant, snapshot)]),
    ...(workspace ? workspacePlaces(tenant, workspace) : []),
    ...outputs.files.map(({ path, sha256 }): [string, string] => [path, recordKeys.cas(tenant, sha256)]),
  ];
}

function workspacePlaces(tenant: string, { before, after }: NonNullable<Result['workspace']>): [string, string][] {
  const at = (snapshot: typeof before) => recordKeys.manifest(tenant, snapshot);
  return [
    ['workspace, before', at(before)],
    ...(after ? [['workspace, after', at(after)] satisfies [string, string]] : []),
  ];
}
