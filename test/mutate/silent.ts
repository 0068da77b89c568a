import {
  isAwaitExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isPrefixUnaryExpression,
  isPropertyAssignment,
  isPropertyDeclaration,
  isTypeNode,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';

/** What no behaviour can come from, so that a change to it would be a mutant that no test can kill. */

/** Types are erased, imports are resolved by the compiler, and templates are wording. */
const silentKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.TemplateExpression,
]);
/**
 * Logs, progress for a person, help texts, crash points (a build without the variable has none), and `unref`: whether a
 * timer keeps a process alive is decided by all of them together.
 */
const silentCalls =
  /(\blog|#log|stderr|progress|reporter)\.(\w+)$|^(say|tell|note|explain|crashPoint|examples)$|\.(describe|meta|unref|problem|helpOption|description|summary)$/;

export function isSilent(node: Node): boolean {
  if (isTypeNode(node) || silentKinds.has(node.kind)) return true;
  if (isIfStatement(node)) return !node.elseStatement && onlySays(node.thenStatement);
  return isCallExpression(node) && silentCalls.test(node.expression.getText());
}

/** A branch that only logs: its condition decides nothing else. */
function onlySays(node: Node): boolean {
  if (isBlock(node)) return node.statements.length > 0 && [...node.statements].every(onlySays);
  return isExpressionStatement(node) && isSilent(awaited(node.expression));
}

export const awaited = (node: Node): Node => (isAwaitExpression(node) ? node.expression : node);

/** Numbers that are names, signs, or a pace: see each. */
export const isIdleNumber = (node: Node): boolean =>
  isNumericLiteral(node) && (isName(node) || isSign(node) || isPace(node));

/** Of a property: the statuses in a table of answers are no numbers that anything is done with. */
const isName = (node: Node) => isPropertyAssignment(node.parent) && node.parent.name === node;

/** `-1` or `1` of a comparison: only its sign counts. */
const isSign = ({ parent }: Node): boolean =>
  isPrefixUnaryExpression(parent)
    ? isSign(parent)
    : isConditionalExpression(parent) && parent.getText().endsWith('? -1 : 1');

/**
 * How long, how often, or how much at once: a number on its own behind such a name changes only the pace, which
 * benchmarks measure and tests never assert. Arithmetic and comparisons with it are changed all the same.
 */
const isPace = ({ parent }: Node): boolean => {
  if (isVariableDeclaration(parent) || isParameterDeclaration(parent) || isPropertyDeclaration(parent))
    return paced.test(parent.name.getText());
  if (isPropertyAssignment(parent)) return paced.test(parent.name.getText()) || isPace(parent);
  return isObjectLiteralExpression(parent) && isPace(parent);
};
const paced =
  /^#?(atOnce|\w+AtOnce|\w+PerBatch|\w*[pP]age|pageSize|scan|threads|lanes|keysPerQuestion|\w+Ms|highWaterMark|chunkSize)$/;
