import { describeNumbers, type Described } from '../../src/answers/describe.js';
import { areOfColumns } from '../../src/answers/words.js';
import { decodeBatchBody, decodeReleaseBody, type Answer } from '../../src/wire/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { StudyView } from './contract.js';
import { journalledRows } from './journal-rows.js';
import type { Store } from '../store/contract.js';
import type { StudyDefinition } from './definition.js';
import type { EpochEvidence } from './evidence-contract.js';

/** How many releases are searched for an answer. */
const releasesMax = 32;

/**
 * Sums of a contributor's rows of one epoch, enough for distances. The same rows count as in
 * releases.
 */
export class OwnRows {
  rows = 0;
  #complete = false;
  #farthest = 0;
  readonly #sums: Float64Array;

  readonly #dimension: number;
  readonly #types: StudyDocument['types'];

  constructor(
    { columns, types }: Pick<StudyDocument, 'columns' | 'types'>,
    private readonly point: readonly number[] | null,
    private readonly scale: readonly number[] | null,
  ) {
    this.#dimension = columns.length;
    this.#types = types;
    this.#sums = new Float64Array(columns.length);
  }

  add(bytes: Uint8Array, complete: boolean): void {
    const body = decodeBatchBody(bytes);
    this.#complete ||= complete;
    if (this.point === null) {
      // Without a point nothing is measured. Rows may then have texts and absent cells.
      this.rows += body.rows;
      return;
    }
    const { values } = journalledRows(body, this.#types);
    for (let start = 0; start < values.length; start += this.#dimension) {
      const row = values.subarray(start, start + this.#dimension);
      for (let i = 0; i < this.#dimension; i++) this.#sums[i]! += row[i]!;
      this.rows += 1;
      this.#farthest = Math.max(this.#farthest, this.#distance(row, this.point));
    }
  }

  measured(): Omit<EpochEvidence, 'epoch' | 'released'> {
    const { point, rows } = this;
    return {
      rows, complete: this.#complete, distance: point === null ? null : rounded(this.distance()),
      farthest: point === null ? null : rounded(this.#farthest),
    };
  }

  /** Distance of the mean of the rows from the point; 0 without a point. */
  distance(): number {
    const { point, rows } = this;
    return point === null ? 0 : this.#distance(this.#sums.map((sum) => sum / rows), point);
  }

  #distance(row: Float64Array, point: readonly number[]): number {
    return Math.hypot(...point.map((value, i) => (row[i]! - value) / (this.scale?.[i] ?? 1)));
  }
}

/** A published answer that has the form of a contributor's row. */
export interface PublishedPoint {
  /** Index of its release in the study's log. */
  readonly index: number;
  readonly epoch: bigint;
  /** One number per column. */
  readonly point: readonly number[];
}

/**
 * Of the study's first `count` releases, the newest answer that has the form of a contributor's
 * row; null when none of the last 32 of them has one.
 */
export async function newestPoint(
  store: Store, { studyId, document }: Pick<StudyView, 'studyId' | 'document'>, count: number,
): Promise<PublishedPoint | null> {
  // No answer of a list of questions is compared with rows.
  if (document.wireForm === undefined || !answersColumns(askedOf(document))) return null;
  const from = Math.max(0, count - releasesMax);
  const releases = await store.releases(studyId, from, count - from);
  for (const { index, epoch, body } of releases.toReversed()) {
    const [{ outcome }] = decodeReleaseBody(body).answers as [Answer];
    if (outcome.kind !== 'value' || outcome.parts !== undefined) continue;
    if (outcome.shape.length === 1 && outcome.estimate.length === document.columns.length) {
      return { index, epoch, point: outcome.estimate };
    }
  }
  return null;
}

/**
 * Whether a study's answers can be compared with rows: an answer needs one number for each column,
 * about that column. A covariance has several parts, and the count of one column says nothing about
 * where its rows are. A study with a list of questions has several answers, or one about a part of
 * the rows.
 */
export function answersAreRows({ document, questions }: StudyDefinition): boolean {
  const [{ plan: { outputShape, parts } }, ...others] = questions;
  if (others.length > 0 || document.wireForm === undefined) return false;
  const isRow = outputShape.length === 1 && outputShape[0] === document.columns.length;
  return isRow && parts === undefined && answersColumns(askedOf(document));
}

/** The first question, as its description needs it. */
function askedOf({ questions, types }: StudyDocument): Described {
  return { ...questions[0]!, types };
}

/** Whether an answer has one number for each column, in their order: a mean or another middle. */
export function answersColumns(asked: Described): boolean {
  const numbers = describeNumbers(asked);
  return areOfColumns(numbers, asked.columns) && numbers.every(({ kind }) => kind !== 'other');
}

/** The public scale of each column, if the estimator has one. */
export function scaleOf(document: StudyDocument): readonly number[] | null {
  const { columns, questions } = document;
  const { scale } = questions[0]!.parameters;
  if (typeof scale === 'number') return columns.map(() => scale);
  if (!Array.isArray(scale) || scale.length !== columns.length) return null;
  return scale.every((each) => typeof each === 'number') ? scale : null;
}

/** Rounds to 2 significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(2));
}
