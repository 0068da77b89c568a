import type { DiskKind } from '@hotcell/contract/disk-growth.ts';

const ofRun: Readonly<Record<string, DiskKind>> = {
  'spec.json': 'specs',
  'result.json': 'results',
  'log.ndjson.zst': 'logs',
  'attempt.json': 'attempts',
  'evidence.sigstore.json': 'evidence',
};

const ofFolder: Readonly<Record<string, DiskKind>> = {
  cas: 'contents',
  snapshots: 'snapshots',
  postures: 'postures',
};

/** What kind of object a key of the record is. */
export function diskKindOf(key: string): DiskKind {
  const folder = key.slice(0, key.indexOf('/'));
  return (folder === 'runs' ? ofRun[key.slice(key.lastIndexOf('/') + 1)] : ofFolder[folder]) ?? 'other';
}
