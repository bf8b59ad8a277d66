import type { GroupBy, RowTest, TestValue } from '../../client/index.js';
import type { NumberInfo } from '../../client/words.js';
import { describeNumbers } from '../../src/answers/describe.js';
import { counted, exact, whole } from './format.js';
import type { Asked } from './model.js';
import { columnText, wordsOfAll, type Columns } from './number-words.js';

function value(each: TestValue): string {
  if (typeof each === 'boolean') return each ? 'yes' : 'no';
  return typeof each === 'number' ? exact(each) : each;
}

/** A test of the rows that count: `region is north or south`. */
export function testInWords(columns: Columns, test: RowTest): string {
  const column = columnText(columns, test.column);
  if ('is' in test) return `${column} is ${value(test.is)}`;
  if ('not' in test) return `${column} is not ${value(test.not)}`;
  if ('in' in test) return `${column} is ${test.in.map(value).join(' or ')}`;
  if ('atLeast' in test) return `${column} is at least ${exact(test.atLeast)}`;
  if ('below' in test) return `${column} is below ${exact(test.below)}`;
  return `${column} is ${test.present ? '' : 'not '}given`;
}

/** The origin of a split answer's groups, and the number of groups that a person counts for. */
export function groupsInWords({ groupsMax, groups, discover }: GroupBy): string {
  const from = discover !== undefined ? foundInWords(discover)
    : groups !== undefined ? `a list of ${whole(groups.length)}` : 'all public values';
  return `${from}; a person counts for ${counted(groupsMax, 'group')} at most`;
}

function foundInWords({ top, remember, answer }: NonNullable<GroupBy['discover']>): string {
  const again = remember === undefined ? '' : `, and ${whole(remember)} of them are shown again`;
  const alone = answer === 'groups' ? ', without counts' : '';
  return `those that most people sent, at most ${whole(top)}${alone}${again}`;
}

/**
 * A question of a study as people ask it: `What is the median delay, for each carrier?` It says
 * nothing about liars: that is a promise of the answer.
 */
export function questionInWords(columns: Columns, asked: Asked): string {
  const { where, by } = asked;
  const tests = where.map((test) => testInWords(columns, test));
  const rows = tests.length === 0 ? '' : ` rows in which ${tests.join(', and ')}`;
  const groups = by && listed(by.columns.map((column) => columnText(columns, column)));
  const numbers = describeNumbers(asked);
  if (groups !== undefined && (numbers.length === 0 || numbers[0]!.kind === 'groups')) {
    return `${numbers.length === 0 ? 'Which' : 'How many different'} values of ${groups} are there${
      rows && ` in${rows}`}?`;
  }
  const [first] = numbers;
  const isOfAll = first?.kind === 'count' && first.column === undefined;
  const what = rows === '' ? askedFor(asked, numbers)
    : isOfAll ? `How many people have${rows}` : `${askedFor(asked, numbers)} in${rows}`;
  return `${what}${groups === undefined ? '' : `, for each ${groups}`}?`;
}

/** Most names in a question. The facts of the question list all. */
const namesMost = 3;

function listed(names: readonly string[]): string {
  const shown = names.length > namesMost
    ? [...names.slice(0, namesMost), `${whole(names.length - namesMost)} more`] : names;
  return [shown.slice(0, -1).join(', '), shown.at(-1)].filter(Boolean).join(' and ');
}

/** A question without its rows, groups and mark. */
function askedFor(asked: Asked, numbers: readonly NumberInfo[]): string {
  const kinds = new Set(numbers.map(({ kind }) => kind));
  const own = new Set(numbers.flatMap((number) => ('column' in number ? [number.column] : [])));
  const names = asked.columns.filter((column) => own.size === 0 || own.has(column));
  const columns = listed(names.map((column) => columnText(asked, column)));
  if (kinds.has('weight')) return `Which clusters do the values of ${columns} form`;
  if (kinds.has('below')) return `How are the values of ${columns} distributed`;
  if (kinds.has('moment') || kinds.has('skewness')) {
    return `Which shape do the values of ${columns} have`;
  }
  if (kinds.has('covariance')) {
    return kinds.has('mean')
      ? `What are the means of ${columns}, and how do they vary together`
      : `How do ${columns} vary together`;
  }
  return askedForFirst(numbers, wordsOfAll(asked).map(({ name }) => name), columns);
}

/** A question whose numbers are of one kind. */
function askedForFirst(
  numbers: readonly NumberInfo[], names: readonly string[], columns: string,
): string {
  const [first] = numbers as [NumberInfo];
  const isOne = numbers.length === 1;
  switch (first.kind) {
    case 'count': return first.column === undefined ? 'How many people are there'
      : `How many people have ${names[0]!.replace('people with ', '')}`;
    case 'bin': return first.bin.name === undefined
      ? `How many people are in each range of ${columns}`
      : `How many people have each value of ${columns}`;
    case 'bin-start': return `Which ranges of ${columns} do most people have`;
    case 'mean': return `What ${isOne ? 'is the mean' : 'are the means'} of ${columns}`;
    case 'median': return `Where is the middle of ${columns}`;
    case 'projector': return `Along which directions do ${columns} vary most`;
    case 'choice': return `Which of ${whole(first.among.length)} shapes fits ${columns} best`;
    default: return `What ${isOne ? 'is' : 'are'} the ${listed(names)}`;
  }
}
