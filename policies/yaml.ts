import { messageOf } from '@hotcell/contract/errors.ts';
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** One thing that is wrong in a file of a policy, where a person finds it. */
export interface Problem {
  file: string;
  line: number;
  column: number;
  message: string;
}

export function problemLine(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}

export interface Yaml {
  value: unknown;
  /** Where a path stands in the file; of a path that is not there, the nearest thing around it. */
  placeOf(path: readonly PropertyKey[]): { line: number; column: number; exact: boolean };
}

const mostBytes = 64 * 1024;
const hint = 'write it out, or put what is shared into a policy of its own and extend that';

/** Strict YAML: no duplicate keys, no anchors and aliases (nothing that grows), no tags, one document, bounded. */
export function readYaml(text: string, file: string): Yaml | { problems: Problem[] } {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fail = (message: string, line = 1, column = 1) => ({ problems: [{ file, line, column, message }] });
  if (Buffer.byteLength(text) > mostBytes)
    return fail(`the file is longer than ${mostBytes / 1024} KiB: split it with extends`);
  let doc: Document.Parsed;
  try {
    doc = parseDocument(text, {
      lineCounter: lines,
      version: '1.2',
      schema: 'core',
      prettyErrors: false,
      logLevel: 'error',
    });
  } catch (error) {
    // A parser that recurses ends here when somebody nests brackets by the thousand.
    return fail(`the file cannot be read as YAML (${messageOf(error)}): make it flatter`);
  }
  // After the first slip a parser stumbles over all that follows: only the first helps.
  const [slip] = [...doc.errors, ...doc.warnings];
  const problems: Problem[] = slip ? [{ file, ...at(slip.pos[0]), message: said(slip.code, slip.message) }] : [];
  const refuse = (offset: number | undefined, message: string) => problems.push({ file, ...at(offset ?? 0), message });
  if (problems.length > 0) return { problems };
  visit(doc, {
    Pair: (_key, pair) => {
      if (isCollection(pair.key)) refuse(pair.key.range?.[0], 'a key is a word, not a list or a map');
    },
    Alias: (_key, node) => {
      refuse(node.range?.[0], `an alias (*${node.source}) is not allowed: ${hint}`);
    },
    Node: (_key, node) => {
      if ('anchor' in node && node.anchor)
        refuse(node.range?.[0], `an anchor (&${node.anchor}) is not allowed: ${hint}`);
      if (node.tag) refuse(node.range?.[0], `a tag (${node.tag}) is not allowed: write plain values`);
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
  if (code === 'DUPLICATE_KEY') return 'the key stands here twice: keep one of the two';
  if (code === 'MULTIPLE_DOCS')
    return 'the file has several documents: a policy is one, remove the --- and what follows';
  if (code === 'TAB_AS_INDENT') return 'a tab cannot indent: use spaces';
  if (message.includes('call stack')) return 'lists and maps are nested by the thousand here: make it flatter';
  return `this is not valid YAML: ${message}`;
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
