import type { BinInfo, NumberInfo, ThresholdSide } from '../base/number-info.js';

/**
 * The words that people see for the numbers of an answer: short ones in commands and files, and
 * those of pages.
 */

/**
 * A short name for each number of an answer, or of one group of a split one.
 * @param columnText - the name of a column; default: that of the facts.
 */
export function labelsOf(
  numbers: readonly NumberInfo[], columnText = (column: string): string => column,
): readonly string[] {
  const columns = new Set(numbers.flatMap((number) =>
    ('column' in number && number.column !== undefined ? [number.column] : [])));
  const answer = {
    isMeans: numbers.every(({ kind }) => kind === 'mean'), isOfOne: columns.size <= 1,
  };
  return numbers.map((number) => labelOf(number, columnText, answer));
}

/** True if there is one number for each column, and the column's name says all about it. */
export function areOfColumns(numbers: readonly NumberInfo[], columns: readonly string[]): boolean {
  return numbers.length === columns.length
    && labelsOf(numbers).every((label, i) => label === columns[i]);
}

type ColumnText = (column: string) => string;

function labelOf(
  number: NumberInfo, text: ColumnText,
  answer: { readonly isMeans: boolean; readonly isOfOne: boolean },
): string {
  switch (number.kind) {
    case 'count': return number.side === undefined
      ? 'contributors' : sideLabel(text(number.column ?? 'value'), number.side);
    case 'groups': return 'distinct groups';
    case 'share': return `share with ${sideLabel(text(number.column), number.side)}`;
    case 'bin': return binLabel(text(number.column), number.bin);
    case 'bin-start': return `${text(number.column)}, bin ${number.bin.found} from`;
    case 'below': return number.edge === undefined
      ? 'contributors' : `contributors below ${number.edge}`;
    case 'quantile': return `${quantileName(number.probability)} of ${text(number.column)}`;
    case 'total': return `total of ${text(number.column)}${totalRange(number)}`;
    case 'ratio': return `${text(number.column)} per ${text(number.per)}`;
    case 'mean':
      if (number.component === undefined) {
        return `${answer.isMeans ? '' : 'mean '}${text(number.column)}`;
      }
      return `mean ${number.component}${answer.isOfOne ? '' : ` of ${text(number.column)}`}`;
    case 'median': return text(number.column);
    case 'variance': return pairLabel(text(number.column), text(number.column), number.component);
    case 'covariance': return pairLabel(text(number.column), text(number.other), number.component);
    case 'deviation': return `deviation ${number.component}`;
    case 'weight': return `weight ${number.component}`;
    case 'projector': return `projector ${text(number.column)}, ${text(number.other)}`;
    case 'rank': return 'rank';
    case 'moment': return `${number.columns.length === 3 ? 'third' : 'fourth'} moment of ${
      number.columns.map(text).join(', ')}`;
    case 'skewness': case 'excess-kurtosis': return `${number.kind.replace('-', ' ')} ${
      number.column === undefined ? `along direction ${number.direction}` : `of ${text(number.column)}`}`;
    case 'choice': return 'place in the list, from 0';
    case 'other': return otherLabel(number, text);
  }
}

/** `median`, `25th percentile`, `99.9th percentile`. */
function quantileName(probability: number): string {
  if (probability === 0.5) return 'median';
  const percent = String(Number((100 * probability).toPrecision(12)));
  const [, last = ''] = /^(?:\d*[02-9])?([123])$/.exec(percent) ?? [];
  return `${percent}${{ 1: 'st', 2: 'nd', 3: 'rd' }[last] ?? 'th'} percentile`;
}

function totalRange({ each, isFound }: Extract<NumberInfo, { kind: 'total' }>): string {
  if (each === undefined) return '';
  return `, each ${each[0]} to ${isFound === true ? `a found cap, at most ${each[1]}` : each[1]}`;
}

function sideLabel(column: string, side: ThresholdSide): string {
  return `${column} ${'below' in side ? `below ${side.below}` : `at least ${side.atLeast}`}`;
}

function binLabel(column: string, { name, found, from, below }: BinInfo): string {
  if (name !== undefined) return name;
  if (found !== undefined) return `${column}, bin ${found} count`;
  if (from === undefined) return `${column} below ${below}`;
  return below === undefined ? `${column} from ${from}` : `${column} ${from} to ${below}`;
}

function pairLabel(column: string, other: string, component: number | undefined): string {
  return `${component === undefined ? '' : `covariance ${component} of `}${column}, ${other}`;
}

function otherLabel(
  { column, part, place, of }: Extract<NumberInfo, { kind: 'other' }>, text: ColumnText,
): string {
  if (part !== undefined) return `${part} ${column === undefined ? place : `of ${text(column)}`}`;
  return column === undefined ? `number ${place} of ${of}` : text(column);
}

/** How a page writes what a name holds. */
export interface NameTexts {
  readonly column: ColumnText;
  readonly unitOf: (column: string) => string | undefined;
  /** All digits of a number that a person chose. */
  readonly number: (value: number) => string;
  readonly percent: (share: number) => string;
}

/** A name for each number on a page, such as `median delay` or `people with age below 18`. */
export function namesOf(numbers: readonly NumberInfo[], texts: NameTexts): readonly string[] {
  const labels = labelsOf(numbers, texts.column);
  return numbers.map((number, i) => nameOf(number, texts)
    ?? labels[i]!.replace(/(?<=^|\s)-(?=\d)/g, '−'));
}

/** Undefined where a page has the same name as a command. */
function nameOf(number: NumberInfo, texts: NameTexts): string | undefined {
  const { column: text, percent } = texts;
  switch (number.kind) {
    case 'count': return number.column === undefined || number.side === undefined
      ? 'people' : `people with ${sideName(number.column, number.side, texts)}`;
    case 'share': return `share of people with ${sideName(number.column, number.side, texts)}`;
    case 'bin': return number.bin.name?.replaceAll('_', ' ');
    case 'quantile': return number.probability === 0.5 ? `median ${text(number.column)}`
      : `${text(number.column)} that ${percent(number.probability)} of people are below`;
    case 'total': return `total of ${text(number.column)}`;
    case 'variance': return number.component === undefined
      ? `variance of ${text(number.column)}` : undefined;
    case 'covariance': return number.component === undefined
      ? `covariance of ${text(number.column)} and ${text(number.other)}` : undefined;
    case 'projector': return number.column === number.other ? `share of ${text(number.column)}`
      : `shared by ${text(number.column)} and ${text(number.other)}`;
    case 'choice': return 'best fit';
    default: return undefined;
  }
}

/** `a delay of at least 60 minutes`, `damaged: yes`. */
function sideName(column: string, side: ThresholdSide, texts: NameTexts): string {
  const name = texts.column(column);
  if (side.is !== undefined) return `${name}: ${side.is ? 'yes' : 'no'}`;
  const unit = texts.unitOf(column);
  const limit = 'below' in side
    ? `below ${texts.number(side.below)}` : `of at least ${texts.number(side.atLeast)}`;
  return `${name} ${limit}${unit === undefined ? '' : ` ${unit}`}`;
}
