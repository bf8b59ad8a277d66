import { assert } from '../../src/base/assert.js';
import type { KeyTable } from '../../src/questions/key-table.js';
import { StudyReduction, type Contribution } from '../../src/questions/reduction.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { keySecretOf } from './assignment-hashes.js';
import type { AcceptedBatch, EpochPart, RowPart } from './contract.js';
import { OpenContributions, recordRanks } from './reduction.js';

/** For each question, the rows that its estimator sees of one contributor. */
export type RowsOfQuestions = readonly (readonly Float64Array[])[];

/**
 * The incomplete contributions of one epoch, in the order of their first part, so that a replay
 * folds them in the same order.
 */
export interface Contributions {
  readonly size: number;
  /** Adds a part. Returns the contributor's rows when the part completes the contribution. */
  take(part: EpochPart): RowsOfQuestions | null;
  /** Yields and removes all remaining contributions. */
  takeAll(): Iterable<{ readonly contributor: Uint8Array; readonly rows: RowsOfQuestions }>;
}

/** @param tables - for each question the table of its discovered keys. */
export function contributionsOf(
  document: StudyDocument, assignmentKey: Uint8Array, tables: readonly (KeyTable | null)[],
): Contributions {
  if (document.questions === undefined) {
    return new ReducedContributions(document.contribution.reduce);
  }
  const reduction = new StudyReduction(document.questions, document);
  return new SentContributions(reduction, assignmentKey, tables);
}

/** Of a study in the short form: parts are reduced before they come. */
class ReducedContributions implements Contributions {
  readonly #open: OpenContributions;

  constructor(reduce: 'mean' | 'sum' | 'one') {
    this.#open = new OpenContributions(reduce);
  }

  get size(): number {
    return this.#open.size;
  }

  take(part: EpochPart): RowsOfQuestions | null {
    const row = this.#open.take(part as RowPart);
    return row === null ? null : [[row]];
  }

  *takeAll(): Generator<{ contributor: Uint8Array; rows: RowsOfQuestions }> {
    for (const { contributor, row } of this.#open.takeAll()) {
      yield { contributor, rows: [[row]] };
    }
  }
}

/**
 * Of a study with a list of questions: each question reduces the rows that were sent. Memory: for
 * each incomplete contribution and question one row, or one for each of at most keysMax keys.
 */
class SentContributions implements Contributions {
  /** By the bytes of the contributor's key, each a character. */
  readonly #open = new Map<string, Contribution>();

  constructor(
    private readonly reduction: StudyReduction, private readonly assignmentKey: Uint8Array,
    private readonly tables: readonly (KeyTable | null)[],
  ) {}

  get size(): number {
    return this.#open.size;
  }

  take(part: EpochPart): RowsOfQuestions | null {
    assert('sequence' in part, 'a study with a list of questions gets batches as they were sent');
    const name = Buffer.from(part.contributor).toString('latin1');
    let contribution = this.#open.get(name);
    if (contribution === undefined) {
      contribution = this.reduction.empty();
      this.#open.set(name, contribution);
    }
    this.#add(contribution, part);
    if (!part.complete) return null;
    this.#open.delete(name);
    return this.reduction.rowsOf(contribution, this.tables);
  }

  *takeAll(): Generator<{ contributor: Uint8Array; rows: RowsOfQuestions }> {
    for (const [name, contribution] of this.#open) {
      const contributor = Buffer.from(name, 'latin1');
      yield { contributor, rows: this.reduction.rowsOf(contribution, this.tables) };
    }
    this.#open.clear();
  }

  #add(contribution: Contribution, batch: AcceptedBatch): void {
    const { contributor, values, rows, texts } = batch;
    const ranks = this.reduction.needsRanks ? recordRanks(this.assignmentKey, batch) : null;
    this.reduction.add(contribution, { values, rows, texts, ranks }, {
      keySecret: () => keySecretOf(this.assignmentKey, contributor),
    });
  }
}
