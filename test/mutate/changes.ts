import {
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isObjectLiteralExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isTypeNode,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';

/** One small change to a source file: what stands between `start` and `end` becomes `text`. */
export interface Change {
  file: string;
  line: number;
  start: number;
  end: number;
  text: string;
  what: string;
}

const operators: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
};
const quantifiers: Readonly<Record<string, string>> = { every: 'some', some: 'every' };

/** What no behaviour comes from: types, imports, and the wording of logs and messages. */
const silentKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.TemplateExpression,
]);
const silentCalls = /(\blog|#log|stderr|stdout|progress)\.(\w+)$|^(say|tell|crashPoint)$|\.(describe|meta|unref)$/;

/** Every change that can be made to a file, in the order of the text. */
export function changesOf(file: string, source: SourceFile): Change[] {
  const found: Change[] = [];
  const startOf = (node: Node) => node.getStart(source);
  const textOf = (node: Node) => source.text.slice(startOf(node), node.end);
  const add = (what: string, start: number, end: number, text: string) =>
    found.push({ file, line: source.text.slice(0, start).split('\n').length, start, end, text, what });
  const replace = (node: Node, text: string, what = `${firstLine(textOf(node))} → ${text}`) =>
    add(what, startOf(node), node.end, text);
  const isSilent = (node: Node) =>
    isTypeNode(node) ||
    silentKinds.has(node.kind) ||
    (isCallExpression(node) && silentCalls.test(textOf(node.expression)));

  const visit = (node: Node): void => {
    if (isSilent(node)) return;
    if (isBinaryExpression(node)) {
      const other = operators[textOf(node.operatorToken)];
      if (other) replace(node.operatorToken, other, `${firstLine(textOf(node))}: ${other}`);
    }
    if (isPropertyAccessExpression(node)) {
      const other = quantifiers[textOf(node.name)];
      if (other) replace(node.name, other, `${firstLine(textOf(node))} → ${other}`);
    }
    if (node.kind === SyntaxKind.TrueKeyword) replace(node, 'false', `${firstLine(textOf(node.parent))}: false`);
    if (node.kind === SyntaxKind.FalseKeyword) replace(node, 'true', `${firstLine(textOf(node.parent))}: true`);
    if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
      replace(node, textOf(node.operand));
    if (isNumericLiteral(node) && !isName(node) && !isSign(node) && !isTuning(node))
      replace(node, otherNumber(textOf(node), startOf(node)), numberWords(node));
    if (isExpressionStatement(node) && !isSilent(awaited(node.expression))) replace(node, ';', drops(node));
    if (isIfStatement(node) && !node.elseStatement && leaves(node.thenStatement)) replace(node, ';', drops(node));
    const statements = isBlock(node) ? [...node.statements] : [];
    // Two reads into constants may change places.
    for (const [first, second] of pairs(statements))
      if (awaits(first) && awaits(second) && [first, second].some(isExpressionStatement))
        add(
          `swap: ${firstLine(textOf(first))} ↔ ${firstLine(textOf(second))}`,
          startOf(first),
          second.end,
          `${textOf(second)}\n${textOf(first)}`,
        );
    node.forEachChild(visit);
  };
  const drops = (node: Node) => `dropped: ${firstLine(textOf(node))}`;
  const numberWords = (node: Node) => `${firstLine(textOf(node.parent))}: ${otherNumber(textOf(node), startOf(node))}`;
  visit(source);
  return found;
}

const firstLine = (text: string) => {
  const [line = '', ...more] = text.split('\n');
  return line.length > 90 || more.length > 0 ? `${line.slice(0, 90)}…` : line;
};

/** The same number always becomes the same other one, by where it stands. */
function otherNumber(text: string, at: number): string {
  if (Number(text) === 0) return '1';
  return at % 2 === 0 ? '0' : `(${text} * 60)`;
}

/** Of a property: the statuses in a table of answers are no numbers that anything is done with. */
const isName = (node: Node) => isPropertyAssignment(node.parent) && node.parent.name === node;

/** `-1` or `1` of a comparison: only its sign counts. */
const isSign = ({ parent }: Node): boolean =>
  isPrefixUnaryExpression(parent)
    ? isSign(parent)
    : isConditionalExpression(parent) && parent.getText().endsWith('? -1 : 1');

/** How much is done or read at once: it changes the speed, and benchmarks see that. */
const isTuning = ({ parent }: Node): boolean =>
  isVariableDeclaration(parent)
    ? tuned.test(parent.name.getText())
    : (isPropertyAssignment(parent) || isObjectLiteralExpression(parent)) && isTuning(parent);
const tuned = /^(atOnce|\w+AtOnce|\w+PerBatch|\w*[pP]age|pageSize|scan|threads|lanes|keysPerQuestion)$/;

const awaited = (node: Node): Node => (isAwaitExpression(node) ? node.expression : node);

/** Whether a guard's branch only leaves: returns, throws, or goes on with the loop. */
function leaves(node: Node): boolean {
  if (isBlock(node)) return node.statements.length === 1 && [...node.statements].every(leaves);
  return isReturnStatement(node) || jumps.has(node.kind);
}
const jumps: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ThrowStatement,
  SyntaxKind.ContinueStatement,
  SyntaxKind.BreakStatement,
]);

function awaits(statement: Node): boolean {
  if (isExpressionStatement(statement)) return isAwaitExpression(statement.expression);
  if (!isVariableStatement(statement)) return false;
  const [declared] = statement.declarationList.declarations;
  return declared?.initializer !== undefined && isAwaitExpression(declared.initializer);
}

function pairs<T>(all: readonly T[]): [T, T][] {
  return all.slice(1).map((second, i) => [all[i] as T, second]);
}
