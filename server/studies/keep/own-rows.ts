import {
  describedQuestion, describeNumbers, type Described,
} from '../../../src/answers/describe.js';
import { areOfColumns } from '../../../src/answers/words.js';
import type { Question } from '../../../src/base/questions.js';
import { rowFilter, type RowFilter } from '../../../src/questions/where.js';
import { decodeBatchBody, decodeReleaseBody } from '../../../src/wire/index.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { StudyView } from '../contract.js';
import { journalledRows } from './journal-rows.js';
import type { Store } from '../../store/contract.js';
import type { StudyDefinition } from '../definition.js';
import type { EpochEvidence } from '../evidence-contract.js';

/** The number of releases that are searched for an answer. */
const releasesMax = 32;

/** A published answer that has the form of a contributor's row. */
export interface PublishedPoint {
  /** Index of its release in the study's log. */
  readonly index: number;
  readonly epoch: bigint;
  /** The question that it answers. */
  readonly question: Question;
  /** One number for each column of the question. */
  readonly point: readonly number[];
  /** As `spreadOf`. */
  readonly spread: readonly number[] | null;
}

/**
 * Sums of a contributor's rows of one epoch, enough for distances. The same rows count as in
 * releases: those that pass the question's tests, with a value in each of its columns.
 */
export class OwnRows {
  /** All rows, also those that do not count for the question. */
  rows = 0;
  #complete = false;
  #farthest = 0;
  #counted = 0;
  readonly #point: readonly number[] | null;
  readonly #spread: readonly number[] | null;
  readonly #places: readonly number[];
  readonly #filter: RowFilter;
  readonly #sums: Float64Array;

  /** @param answer - null: nothing is measured. */
  constructor(private readonly document: StudyDocument, answer: PublishedPoint | null) {
    const { columns = [], where = [] } = answer?.question ?? {};
    this.#point = answer?.point ?? null;
    this.#spread = answer?.spread ?? null;
    this.#places = columns.map((name) => document.columns.indexOf(name));
    this.#filter = rowFilter(where, document);
    this.#sums = new Float64Array(columns.length);
  }

  add(bytes: Uint8Array, complete: boolean): void {
    const body = decodeBatchBody(bytes);
    this.#complete ||= complete;
    this.rows += body.rows;
    const point = this.#point;
    if (point === null) return;
    const { columns: { length: width }, types } = this.document;
    const sent = { ...journalledRows(body, types), rows: body.rows };
    for (let start = 0; start < sent.values.length; start += width) {
      if (!this.#filter(sent, start)) continue;
      const row = this.#places.map((place) => sent.values[start + place]!);
      if (row.some(Number.isNaN)) continue;
      row.forEach((value, i) => { this.#sums[i]! += value; });
      this.#counted += 1;
      this.#farthest = Math.max(this.#farthest, this.#distance(row, point));
    }
  }

  measured(): Omit<EpochEvidence, 'epoch' | 'released'> {
    const isMeasured = this.#point !== null;
    return {
      rows: this.rows, complete: this.#complete,
      distance: isMeasured ? rounded(this.distance()) : null,
      farthest: isMeasured ? rounded(this.#farthest) : null,
    };
  }

  /** Distance of the mean of the rows that count from the point; 0 without a point or such rows. */
  distance(): number {
    if (this.#point === null || this.#counted === 0) return 0;
    return this.#distance(Array.from(this.#sums, (sum) => sum / this.#counted), this.#point);
  }

  #distance(row: readonly number[], point: readonly number[]): number {
    return Math.hypot(...point.map((value, i) => (row[i]! - value) / (this.#spread?.[i] ?? 1)));
  }
}

/**
 * The newest answer among the study's first `count` releases that has the form of a contributor's
 * row; null when none of the last 32 of them has one.
 */
export async function newestPoint(
  store: Store, { studyId, document }: Pick<StudyView, 'studyId' | 'document'>, count: number,
): Promise<PublishedPoint | null> {
  const place = comparedPlace(document);
  if (place < 0) return null;
  const question = document.questions[place]!;
  const from = Math.max(0, count - releasesMax);
  const releases = await store.releases(studyId, from, count - from);
  for (const { index, epoch, body } of releases.toReversed()) {
    const { outcome } = decodeReleaseBody(body).answers[place]!;
    if (outcome.kind !== 'value' || outcome.parts !== undefined) continue;
    if (outcome.shape.length === 1 && outcome.estimate.length === question.columns.length) {
      return { index, epoch, question, point: outcome.estimate, spread: spreadOf(document) };
    }
  }
  return null;
}

/**
 * The place of the question whose answers are compared with rows: the first that is not split and
 * has one number for each of its columns; -1 without one.
 */
export function comparedPlace(document: StudyDocument): number {
  return document.questions.findIndex((question) => question.by === undefined
    && answersColumns(describedQuestion(question, document)));
}

/**
 * True if some answers of a study can be compared with rows. A covariance has several parts, and
 * the count of one column reveals nothing about where its rows lie.
 */
export function answersAreRows({ document, questions }: StudyDefinition): boolean {
  const compared = questions[comparedPlace(document)];
  if (compared === undefined) return false;
  const { plan: { outputShape, parts }, question: { columns } } = compared;
  return outputShape.length === 1 && outputShape[0] === columns.length && parts === undefined;
}

/** True if an answer has one number for each column, in their order: a mean or another middle. */
export function answersColumns(asked: Described): boolean {
  const numbers = describeNumbers(asked);
  return areOfColumns(numbers, asked.columns) && numbers.every(({ kind }) => kind !== 'other');
}

/** The public spread of each column of the compared question, if its estimator has one. */
export function spreadOf(document: StudyDocument): readonly number[] | null {
  const question = document.questions[comparedPlace(document)];
  if (question === undefined) return null;
  const { columns, parameters: { spread } } = question;
  if (typeof spread === 'number') return columns.map(() => spread);
  if (!Array.isArray(spread) || spread.length !== columns.length) return null;
  return spread.every((each) => typeof each === 'number') ? spread : null;
}

/** Rounds to 2 significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(2));
}
