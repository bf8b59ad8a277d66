import { forms, nameOf, relationNames } from './forms.js';

/** The page docs/results/relations.md: which relation holds for which estimator. */
export function pageOfRelations(): string {
  const reasons: string[] = [];
  const numberOf = (reason: string): number => {
    if (!reasons.includes(reason)) reasons.push(reason);
    return reasons.indexOf(reason) + 1;
  };
  const cellOf = (form: (typeof forms)[number], name: (typeof relationNames)[number]): string => {
    const exempt = form.exempt[name];
    return exempt === undefined ? 'yes' : `– ${numberOf(exempt)}`;
  };
  const rows = forms.map((form) =>
    [nameOf(form), ...relationNames.map((name) => cellOf(form, name))]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Relations', '',
    'These relations must hold for every estimator, whatever the truth is: if all values are '
    + 'given in another unit,',
    'the answer has to be the same in that unit. `test/relations` asks each estimator for them, '
    + 'on normal rows at',
    'fixed seeds, and writes this page (`npx vitest run test/relations -u`).', '',
    '"Yes" says that it holds. After a power of two, that is to the last bit: the answer, its '
    + 'noise and its interval.',
    'Elsewhere the two answers are within one and a half of their half intervals. A dash says '
    + 'that the relation is not asked,',
    'and the number tells why.', '',
    ...relationNames.map((name, i) => `${i + 1}. ${name}`), '',
    line(['estimator', ...relationNames.map((_, i) => String(i + 1))]),
    line(['---', ...relationNames.map(() => '---')]),
    ...rows.map(line), '',
    'Why a relation is not asked:', '',
    ...reasons.map((reason, i) => `${i + 1}. ${reason}`), '',
  ].join('\n');
}
