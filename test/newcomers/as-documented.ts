/** Whether a text is as documented: `…` stands for any part of a line, and on a line of its own for any lines. */
export function isAsDocumented(documented: string, text: string): boolean {
  const lines = text.replace(/^\n+/, '').trimEnd().split('\n');
  const wanted = documented.trimEnd().split('\n');
  // For each number of lines that are read: whether the wanted lines so far can have read exactly these.
  let reachable = new Set([0]);
  for (const want of wanted) {
    const next = new Set<number>();
    const first = Math.min(...reachable);
    if (want === '…') for (let at = first; at <= lines.length; at++) next.add(at);
    else for (const at of reachable) if (fits(want, lines[at])) next.add(at + 1);
    if (next.size === 0) return false;
    reachable = next;
  }
  return reachable.has(lines.length);
}

function fits(wanted: string, line: string | undefined): boolean {
  if (line === undefined) return false;
  const [head = '', ...parts] = wanted.split('…');
  if (parts.length === 0) return line === head;
  const tail = parts.pop() ?? '';
  if (!line.startsWith(head) || !line.endsWith(tail) || line.length < head.length + tail.length) return false;
  let from = head.length;
  const end = line.length - tail.length;
  for (const part of parts) {
    const at = line.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
