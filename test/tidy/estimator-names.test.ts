import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { table } from '../../src/estimators/table.js';
import { sourceFiles, type SourceFile } from '../support/sources.js';

const names: readonly string[] = table.map(({ name }) => name);

/** A word such as `mean` also names other things; a name of two words names an estimator. */
function isName(node: ts.Expression, beside: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) || !names.includes(node.text)) return false;
  return node.text.includes('-') || /estimator(\.name|Name)?!?$/.test(beside.getText());
}

/** Where a file does something for one estimator by its name, as `path:line`. */
function branchesOf({ path, tree }: SourceFile): readonly string[] {
  const found: string[] = [];
  const equal = [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken];
  const isBranch = (node: ts.Node): boolean => {
    if (ts.isBinaryExpression(node) && equal.includes(node.operatorToken.kind)) {
      return isName(node.left, node.right) || isName(node.right, node.left);
    }
    if (ts.isCaseClause(node)) return isName(node.expression, node.parent.parent.expression);
    return ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
      && node.expression.name.text === 'includes'
      && ts.isArrayLiteralExpression(node.expression.expression)
      && node.expression.expression.elements.some((one) => isName(one, node.arguments[0]!));
  };
  const visit = (node: ts.Node): void => {
    if (isBranch(node)) {
      found.push(`${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

describe('the names of estimators', () => {
  const ofText = (text: string): readonly string[] => branchesOf({
    path: 'one.ts', text, tree: ts.createSourceFile('one.ts', text, ts.ScriptTarget.Latest, true),
  });

  it.each([
    'if (question.estimator === \'count\') go();', 'if (\'sum\' !== estimator.name) go();',
    'if (name === \'robust-mean\') go();', '[\'mean\', \'count\'].includes(estimator)',
    'switch (estimator) { case \'quantile\': go(); }',
  ])('are seen in %s', (text) => {
    expect(ofText(text)).toEqual(['one.ts:1']);
  });

  it('are not seen in a kind of number that has the same word', () => {
    expect(ofText('if (number.kind === \'count\') go();')).toEqual([]);
  });

  it('decide nothing outside src/estimators', () => {
    const found = sourceFiles().filter(({ path }) => !path.startsWith('src/estimators/'))
      .flatMap(branchesOf);
    expect(found).toEqual([]);
  });
});
