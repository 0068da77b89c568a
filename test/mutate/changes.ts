import {
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { awaited, isIdleNumber, isSilent } from './silent.ts';

/** One small change to a source file: what stands between `start` and `end` becomes `text`. */
export interface Change {
  file: string;
  /** Where the statement or class member begins that it is in. */
  statement: number;
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
const holdsStatements: ReadonlySet<SyntaxKind | undefined> = new Set([
  SyntaxKind.SourceFile,
  SyntaxKind.Block,
  SyntaxKind.CaseClause,
  SyntaxKind.DefaultClause,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.ClassExpression,
]);
const quantifiers: Readonly<Record<string, string>> = { every: 'some', some: 'every' };

/** Every change that can be made to a file, in the order of the text. */
export function changesOf(file: string, source: SourceFile): Change[] {
  const found: Change[] = [];
  const startOf = (node: Node) => node.getStart(source);
  const textOf = (node: Node) => source.text.slice(startOf(node), node.end);
  const add = (what: string, start: number, end: number, text: string) =>
    found.push({ file, statement, line: source.text.slice(0, start).split('\n').length, start, end, text, what });
  const replace = (node: Node, text: string, what = `${firstLine(textOf(node))} → ${text}`) =>
    add(what, startOf(node), node.end, text);
  let statement = 0;

  const visit = (node: Node): void => {
    if (isSilent(node)) return;
    const outer = statement;
    if (holdsStatements.has(node.parent?.kind)) statement = startOf(node);
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
    if (isNumericLiteral(node) && !isIdleNumber(node))
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
    statement = outer;
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
