import { messageOf } from '@hotcell/contract/errors.ts';
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** A problem in a policy file, and its place. */
export interface PlacedProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** A problem of a file as a whole. */
export const wholeFile = (file: string, message: string): PlacedProblem => ({ file, line: 1, column: 1, message });

export function problemAt(file: string, yaml: Yaml, at: readonly PropertyKey[], message: string): PlacedProblem {
  const { line, column } = yaml.placeOf(at);
  return { file, line, column, message };
}

export function problemLine(problem: PlacedProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}

export interface Yaml {
  value: unknown;
  /** The place of a path in the file; for a missing path, its nearest parent. */
  placeOf(path: readonly PropertyKey[]): { line: number; column: number; exact: boolean };
}

const mostBytes = 64 * 1024;
const hint = 'Write it out, or put the shared part into a policy of its own and extend that.';

/** Strict, bounded YAML: one document without duplicate keys, anchors, aliases (which could grow) and tags. */
export function readYaml(text: string, file: string): Yaml | { problems: PlacedProblem[] } {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fail = (message: string, line = 1, column = 1) => ({ problems: [{ file, line, column, message }] });
  if (Buffer.byteLength(text) > mostBytes)
    return fail(`The file is longer than ${mostBytes / 1024} KiB. Split it with extends.`);
  let doc: Document.Parsed;
  try {
    doc = parseDocument(text, {
      lineCounter: lines,
      version: '1.2',
      schema: 'core',
      prettyErrors: false,
      logLevel: 'error',
      // The library compares every key with every other one.
      uniqueKeys: false,
    });
  } catch (error) {
    // The parser recurses: thousands of nested brackets end here.
    return fail(`The file can't be parsed as YAML (${messageOf(error)}). Make it flatter.`);
  }
  // Errors after the first are often its consequences: report only the first.
  const [slip] = [...doc.errors, ...doc.warnings];
  const problems: PlacedProblem[] = slip ? [{ file, ...at(slip.pos[0]), message: said(slip.code, slip.message) }] : [];
  const refuse = (offset: number | undefined, message: string) => problems.push({ file, ...at(offset ?? 0), message });
  if (problems.length > 0) return { problems };
  visit(doc, {
    Map: (_key, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(String(key.value))) refuse(key.range?.[0], 'The key appears twice. Keep one of the two.');
        seen.add(String(key.value));
      }
    },
    Pair: (_key, pair) => {
      if (isCollection(pair.key)) refuse(pair.key.range?.[0], 'A key must be a word, not a list or a map.');
    },
    Alias: (_key, node) => {
      refuse(node.range?.[0], `Aliases (*${node.source}) are not allowed. ${hint}`);
    },
    Node: (_key, node) => {
      if ('anchor' in node && node.anchor)
        refuse(node.range?.[0], `Anchors (&${node.anchor}) are not allowed. ${hint}`);
      if (node.tag) refuse(node.range?.[0], `Tags (${node.tag}) are not allowed. Write plain values.`);
    },
  });
  if (problems.length > 0) return { problems };
  const placeOf = (path: readonly PropertyKey[]) => {
    const { offset, exact } = offsetOf(doc, path);
    return { ...at(offset), exact };
  };
  return { value: doc.toJS({ maxAliasCount: 0 }), placeOf };
}

function said(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'The file has several documents. Remove the --- and what follows.';
  if (code === 'TAB_AS_INDENT') return 'Tabs can’t indent. Use spaces.';
  if (message.includes('call stack')) return 'Lists and maps are nested too deeply. Make the file flatter.';
  return `This is not valid YAML: ${message}`;
}

function offsetOf(doc: Document.Parsed, path: readonly PropertyKey[]): { offset: number; exact: boolean } {
  let node: unknown = doc.contents;
  let offset = doc.contents?.range?.[0] ?? 0;
  for (const step of path) {
    if (!isCollection(node)) return { offset, exact: false };
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair) return { offset, exact: false };
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else {
      node = node.get(typeof step === 'number' ? step : String(step), true);
      if (!isNode(node)) return { offset, exact: false };
      offset = node.range?.[0] ?? offset;
    }
  }
  return { offset, exact: true };
}
