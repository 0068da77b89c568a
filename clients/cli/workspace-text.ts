import { counted, formatBytes } from '@hotcell/contract/format.ts';
import type { WorkspaceResult } from '@hotcell/contract/workspace.ts';
import { columns, pairs } from './columns.ts';
import { visibleLine } from './visible.ts';

/** What became of /work: the two snapshots, and how they differ. */
export function workspaceText({ before, after, files, bytes, changes, refused, lost }: WorkspaceResult): string {
  const named = changes?.paths ?? [];
  const all = changes ? changes.added + changes.changed + changes.removed : 0;
  return [
    pairs([
      ['workspace', before],
      ['at the end', after === null ? (lost ?? 'not kept: the program did not come to its end') : after],
      ['holds', after === null ? undefined : `${counted(files, 'file')}, ${formatBytes(bytes)}`],
      [
        'changes',
        changes ? `${changes.added} added, ${changes.changed} changed, ${changes.removed} removed` : undefined,
      ],
    ]),
    named.length === 0
      ? ''
      : columns(
          ['CHANGE', 'FILE'],
          named.map(({ path, change }) => [change, visibleLine(path)]),
        ),
    all > named.length ? `${all - named.length} more: ./hotcell snapshot diff ${before} ${after}\n` : '',
    refused.map(({ path, reason }) => `refused in /work: ${visibleLine(path)}: ${visibleLine(reason)}\n`).join(''),
  ].join('');
}
