import { describeNumbers } from '../../src/answers/describe.js';
import type { NumberInfo } from '../../src/base/number-info.js';
import type { Question } from '../../src/base/questions.js';
import { keyListOf } from '../../src/questions/keys.js';
import { rowFilter } from '../../src/questions/where.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/** Epochs whose rows are kept. An epoch is released while the next one is open. */
const epochsKept = 4n;

/**
 * The answers that a study with several questions would have from honest people alone, without
 * noise: only the demonstration, which made the rows, can know them.
 */
export class HonestAnswers {
  private readonly sent = new Map<bigint, Float64Array[]>();

  constructor(private readonly document: StudyDocument) {}

  /** Keeps the rows of one honest person that were accepted. */
  add(epoch: bigint, values: Float64Array): void {
    const own = this.sent.get(epoch) ?? [];
    this.sent.set(epoch, own);
    own.push(values);
    for (const old of this.sent.keys()) if (old + epochsKept <= epoch) this.sent.delete(old);
  }

  /** For each question its numbers, in the order of those of a release. */
  of(epoch: bigint): readonly (readonly number[])[] {
    const people = this.sent.get(epoch) ?? [];
    return this.document.questions.map((question) => answerOf(question, this.document, people));
  }
}

function answerOf(
  question: Question, document: StudyDocument, people: readonly Float64Array[],
): readonly number[] {
  const { columns: { length: width } } = document;
  const passes = rowFilter(question.where, document);
  const keys = question.by === undefined ? null : keyListOf(question.by, document);
  const place = document.columns.indexOf(question.columns[0] ?? '');
  // Each person counts with one number for each key, made from all rows of that key.
  const valuesOf = Array.from({ length: keys?.names.length ?? 1 }, (): number[] => []);
  for (const values of people) {
    const rowsOf = valuesOf.map((): number[] => []);
    for (let start = 0; start < values.length; start += width) {
      const sent = { values, rows: values.length / width };
      if (!passes(sent, start)) continue;
      rowsOf[keys?.placeOf(sent, start) ?? 0]?.push(place < 0 ? 1 : values[start + place]!);
    }
    rowsOf.forEach((rows, key) => {
      if (rows.length === 0) return;
      const sum = total(rows);
      // Under `one` the server takes one row by a secret key: on average, their mean.
      valuesOf[key]!.push(question.reduce === 'sum' ? sum : sum / rows.length);
    });
  }
  const numbers = describeNumbers(question);
  return valuesOf.flatMap((values) => numbers.map((number) => statisticOf(number, values)));
}

function statisticOf(number: NumberInfo, values: readonly number[]): number {
  switch (number.kind) {
    case 'count': return values.length;
    case 'total': return total(values);
    case 'quantile': {
      const sorted = values.toSorted((left, right) => left - right);
      return sorted[Math.min(sorted.length - 1, Math.floor(number.probability * sorted.length))]
        ?? Number.NaN;
    }
    case 'bin': {
      const { from = -Infinity, below = Infinity } = number.bin;
      return values.filter((value) => value >= from && value < below).length;
    }
    // Means and shares.
    default: return total(values) / values.length;
  }
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
