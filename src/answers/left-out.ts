import { mayLoseKeys } from '../base/public-keys.js';
import type { Question } from '../base/questions.js';
import { otherName, type ColumnType } from '../base/columns.js';
import { describeNumbers } from './describe.js';

/**
 * Which rows and keys of people do not count in the answer to a question, in sentences for people.
 * They follow from the question and the columns, so they are public before any row is seen.
 * @param study - its facts.
 * @param anyMissing - a cell may also be empty in a column that is not optional.
 * @returns none if all rows and keys count.
 */
export function leftOutText(
  question: Question,
  study: {
    readonly columns: readonly string[];
    readonly types?: readonly ColumnType[];
    readonly contribution: { readonly rowsMax: number };
  },
  anyMissing = false,
): readonly string[] {
  const { columns: own, where, by } = question;
  const typeOf = (name: string): ColumnType | undefined =>
    study.types?.[study.columns.indexOf(name)];
  const mayLack = (name: string): boolean => anyMissing || typeOf(name)?.optional === true;
  const lacking = [...new Set([...own, ...(by?.columns ?? [])])].filter(mayLack);
  const tested = [...new Set(where.filter((test) => !('present' in test))
    .map(({ column }) => column))].filter((name) => mayLack(name) && !lacking.includes(name));
  return [
    ...(lacking.length === 0 ? []
      : [`A row counts only if it has a value of ${lacking.join(' and ')}.`]),
    ...(tested.length === 0 ? []
      : [`A row without a value of ${tested.join(' or ')} passes no test of it.`]),
    ...(by === undefined ? [] : keysLeftOut({ ...question, by }, { ...study, typeOf })),
  ];
}

function keysLeftOut(
  question: Question & Required<Pick<Question, 'by'>>,
  study: Parameters<typeof leftOutText>[1] & {
    readonly typeOf: (name: string) => ColumnType | undefined;
  },
): readonly string[] {
  const { by } = question;
  const { columns, groups: keys, discover } = by;
  const ranges = columns.flatMap((name) => {
    const type = study.typeOf(name);
    return keys === undefined && type?.type === 'integer'
      ? [`A ${name} outside ${type.low}..${type.high} counts as ${otherName}.`] : [];
  });
  return [
    ...ranges,
    ...(keys === undefined ? [] : ['Rows of groups that are not in the list do not count.']),
    ...(mayLoseKeys(by, study, study.contribution.rowsMax)
      ? [pairsLeftOut(question)] : []),
    ...(discover === undefined ? [] : [
      `At most ${discover.top} groups are shown, and none that fewer than ${discover.prefilter} `
        + 'people have, or so few that noise hides them.',
    ]),
  ];
}

function pairsLeftOut(question: Question & Required<Pick<Question, 'by'>>): string {
  const { groupsMax, discover } = question.by;
  const numbers = describeNumbers(question);
  const low = numbers.every(({ kind }) => kind === 'total') ? 'sums'
    : numbers.every(({ kind }) => kind === 'count' || kind === 'groups') ? 'counts' : null;
  return `A person counts under at most ${groupsMax} group${groupsMax === 1 ? '' : 's'}, chosen at random: `
    + `pairs of a person and a group beyond ${groupsMax} a person are left out`
    + (discover?.answer === 'groups' ? '.'
      : `${low === null ? '' : `, so ${low} are low where people have more`}. The `
      + 'intervals are about the pairs that count, and about all pairs where the answer says how '
      + 'many people have more groups.');
}
