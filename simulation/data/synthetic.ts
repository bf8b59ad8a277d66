import { describeNumbers } from '../../src/answers/describe.js';
import { pow } from '../../src/base/elementary.js';
import { namesOfType, type ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { factsLimits } from '../../src/base/facts-limits.js';
import type { NumberInfo } from '../../src/base/number-info.js';
import { type Question } from '../../src/base/questions.js';
import { seededRandom } from '../../src/random/work.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { gaussianVector } from './gaussian.js';
import type { RowSource } from './sources.js';

/** Centre and spread of the made-up values of one column. */
interface Column {
  readonly centre: number;
  readonly spread: number;
}

const usual: Column = { centre: 10, spread: 3 };
/** The texts that simulated people enter in columns of texts. They fit a column of one byte. */
export const madeUpTexts: readonly string[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Distance between the components of a mixture, in spreads: large enough to separate them. */
const kindsApart = 8;

/**
 * Makes up rows for a study without a fitting data set: independent normal values where the study's
 * public parameters expect them. The values are whole multiples of its `resolution` or `unit` if it
 * states one. A mixture gets as many kinds of contributors as it has `components`. For `subspace`
 * the last column is the sum of the others. If there are several questions, the first that is about
 * a column determines its values, unless the column has a range. Texts are places in `madeUpTexts`.
 * @param rows per contribution, at least 1.
 */
export function syntheticSource(
  document: StudyDocument, rows: number, seed: Uint8Array,
): RowSource {
  if (!Number.isInteger(rows) || rows < 1) {
    throw new InvalidParameterError(
      `rows per contribution is ${rows}: give an integer of at least 1`,
    );
  }
  const random = seededRandom(seed);
  const { length } = document.columns;
  const asked = document.questions[0]!;
  const { parameters: { components = 1 }, reduce } = asked;
  // If the rows of a contributor are added up, the parameters are about their sum.
  const added = reduce === 'sum' && document.wireForm === 'short' ? rows : 1;
  const columns = document.columns.map((_, index): Column => {
    const { centre, spread } = columnOf(document, index);
    return { centre: centre / added, spread: spread / Math.sqrt(added) };
  });
  const steps = document.columns.map((_, index) => stepOf(document, index));
  const isSum = hasKind(asked, 'rank');
  return (contributor, epoch, study) => {
    const values = gaussianVector(rows * length, random.fork(`${study} ${epoch} ${contributor}`))
      .map((normal, i) => {
        const { centre, spread } = columns[i % length]!;
        const kind = kindsApart * (contributor % Number(components));
        const step = steps[i % length]!;
        const value = centre + (kind + normal) * spread;
        return fitted(step === 0 ? value : step * Math.round(value / step),
          document.types?.[i % length]);
      });
    if (isSum) for (let end = length - 1;
        end < values.length; end += length) values[end] = sumBefore(values, end, length);
    return values;
  };
}

/** The most texts that an attacker invents. */
const inventedMost = 4_096;

/**
 * Texts that no honest contributor has, for attackers. They fit every column of texts of the study:
 * the fewer bytes it allows, the fewer there are. None without such a column.
 */
export function inventedTexts({ types = [] }: StudyDocument): readonly string[] {
  const bytes = Math.min(...types.map((type) => (type.type === 'text' ? type.bytes : Infinity)));
  if (bytes === Infinity) return [];
  if (bytes === 1) return [...'ijklmnopqrstuvwxyz'];
  // A letter, and a number of at most `bytes - 1` digits.
  return Array.from({ length: Math.min(inventedMost, pow(36, bytes - 1)) }, (_, i) =>
    `z${i.toString(36)}`);
}

/**
 * Rows of the nearest values that the columns of a study can hold.
 * @param texts - those that the numbers are indexes into.
 */
export function fittedRows(
  values: Float64Array, { types }: StudyDocument, texts = madeUpTexts,
): Float64Array {
  return values.map((value, i) => fitted(value, types?.[i % types.length], texts));
}

function fitted(
  value: number, type: ColumnType | undefined, texts: readonly string[] = madeUpTexts,
): number {
  if (type === undefined || type.type === 'number') return within(factsLimits.valueMax, value);
  const names = namesOf(type, texts);
  return names === null ? within(Number.MAX_SAFE_INTEGER, Math.round(value))
    : Math.min(names.length - 1, Math.max(0, Math.round(value)));
}

function within(most: number, value: number): number {
  return Math.min(most, Math.max(-most, value));
}

/**
 * The names that the numbers of a column are indexes into; null where they are not indexes.
 * @param texts - those that the numbers of text columns are indexes into.
 */
export function namesOf(type: ColumnType, texts = madeUpTexts): readonly string[] | null {
  return type.type === 'text' ? texts : namesOfType(type);
}

function sumBefore(values: Float64Array, end: number, length: number): number {
  return values.subarray(end - length + 1, end).reduce((sum, value) => sum + value, 0);
}

function columnOf(document: StudyDocument, place: number): Column {
  const type = document.types?.[place];
  const names = type === undefined ? null : namesOf(type);
  if (names !== null) return { centre: (names.length - 1) / 2, spread: names.length / 4 };
  if (document.wireForm === undefined && (type?.type === 'number' || type?.type === 'integer')
      && type.low !== undefined && type.high !== undefined) {
    return between(type.low, type.high);
  }
  const name = document.columns[place]!;
  const question = document.questions.find(({ columns: own }) => own.includes(name));
  if (question === undefined) return usual;
  const { parameters, columns } = question;
  const index = columns.indexOf(name);
  const { spread, column, threshold, edges, hypotheses } = parameters;
  if (column === undefined || column === index) {
    if (isNumbers(edges)) return between(edges[0]!, edges.at(-1)!);
    if (isNumber(threshold)) {
      return { centre: threshold, spread: Math.max(1, Math.abs(threshold) / 4) };
    }
    const shape = shapeIn(hypotheses);
    if (shape !== null) return shape;
  }
  const { cap, range } = parameters;
  if (isNumbers(cap)) return between(0, cap[index]!);
  if (isNumbers(range)) return between(range[2 * index]!, range[2 * index + 1]!);
  const own = isNumbers(spread) && spread.length === columns.length ? spread[index] : spread;
  if (isNumber(own)) return { centre: 2 * own, spread: own };
  const { 'variance-low': lowest, 'variance-high': highest } = parameters;
  if (isNumber(lowest) && isNumber(highest)) {
    // The geometric mean of the allowed variances.
    const spread = Math.sqrt(Math.sqrt(lowest) * Math.sqrt(highest));
    return { centre: 2 * spread, spread };
  }
  return usual;
}

const between = (low: number, high: number): Column =>
  ({ centre: (low + high) / 2, spread: (high - low) / 8 });

/**
 * Centre and spread of the first distribution in a list of hypotheses; null when none states them
 * as plain numbers.
 */
function shapeIn(value: unknown): Column | null {
  if (typeof value === 'string') return shapeIn(parsed(value));
  if (typeof value !== 'object' || value === null) return null;
  const { mean, deviation, centre, scale, low, high, edges } =
    value as Readonly<Record<string, unknown>>;
  if (isNumber(mean) && isNumber(deviation)) return { centre: mean, spread: deviation };
  if (isNumber(centre) && isNumber(scale)) return { centre, spread: scale };
  if (isNumber(low) && isNumber(high)) return between(low, high);
  if (isNumbers(edges)) return between(edges[0]!, edges.at(-1)!);
  for (const part of Object.values(value)) {
    const found = shapeIn(part);
    if (found !== null) return found;
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function stepOf(document: StudyDocument, index: number): number {
  const asked = document.questions[0]!;
  const { resolution, unit } = asked.parameters;
  if (hasKind(asked, 'rank') && isNumber(unit)) return unit;
  if (!hasKind(asked, 'weight')) return 0;
  const own = isNumbers(resolution) ? resolution[index] : resolution;
  return isNumber(own) ? own : 0;
}

function hasKind(asked: Question, wanted: NumberInfo['kind']): boolean {
  return describeNumbers(asked).some(({ kind }) => kind === wanted);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isNumber);
}
