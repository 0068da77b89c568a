import { hostname } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { OwnInstallation } from '../support/own-installation.ts';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Which of these are said depends on how quick the machine is. */
const passing =
  /^(?:hotcell: (?:queued\b.*|staging|running|publishing|sending .*)|warning: This list is being filled.*)\n/gm;

type Own = Pick<OwnInstallation, 'id' | 'home' | 'portBase'>;

/** What a person sees, without what differs from one time to the next. */
export function asSeen(text: string, { id, home, portBase }: Own): string {
  return stripVTControlCharacters(text)
    .replaceAll(home, 'HOME')
    .replace(new RegExp(`\\b${id}\\b`, 'g'), 'ID')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(passing, '')
    .replace(uuid, 'RUN')
    .replace(/^[0-9a-f]{6,12}(?= {2})/gm, 'RUN')
    .replace(/…[0-9a-f]{6,12}\b/g, '…RUN')
    .replace(/sha256:[0-9a-f]{8,64}/g, 'sha256:DIGEST')
    .replace(/(?<=hotcell\/\w+:)[0-9a-f]{20}/g, 'TAG')
    .replace(/\b[0-9a-f]{16}\b/g, 'KEY')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replace(/\b\d+(?:\.\d+)? (?:s|min|h)\b/g, 'N s')
    .replace(/\([\d.]+ \w+\), with \d+ runs and \d+ snapshots/g, '(SIZE), with N runs and N snapshots')
    .replaceAll(String(portBase), '7411')
    .replace(new RegExp(`\\b${hostname().replaceAll('.', String.raw`\.`)}\\b`, 'g'), 'HOST')
    .split('\n')
    .map(atTheEdge)
    .join('\n')
    .replace(/^--- stderr\n(?=\[\d+\]$)/gm, '');
}

/** A line that the terminal's width cuts is cut where the columns before it end, and theirs differ. */
function atTheEdge(line: string): string {
  const cells = line.replace(/ {2,}\S+(?: \S+)* ?…$|\s*…$/, '  …');
  return cells.replace(/(\S) {2,}/g, '$1  ').trimEnd();
}
