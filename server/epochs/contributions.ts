import { assert } from '../../src/base/assert.js';
import type { KeyTable } from '../../src/questions/key-table.js';
import { StudyReduction, type Contribution } from '../../src/questions/reduction.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { keySecretOf } from './assignment-hashes.js';
import type { AcceptedBatch, EpochPart, RowPart } from './contract.js';
import { OpenContributions, recordRanks } from './reduction.js';

/** What the questions get of one contributor. */
export interface ReducedRows {
  /** For each question, the rows that its estimator sees. */
  readonly rows: readonly (readonly Float64Array[])[];
  /** For each question, whether there were more keys than count for one. Absent: for none. */
  readonly cuts?: readonly boolean[];
}

/**
 * The incomplete contributions of one epoch, in the order of their first part, so that a replay
 * folds them in the same order.
 */
export interface Contributions {
  readonly size: number;
  /** Adds a part. Returns the contributor's rows when the part completes the contribution. */
  take(part: EpochPart): ReducedRows | null;
  /** Yields and removes all remaining contributions. */
  takeAll(): Iterable<ReducedRows & { readonly contributor: Uint8Array }>;
}

/** @param tables - for each question the table of its discovered keys. */
export function contributionsOf(
  document: StudyDocument, assignmentKey: Uint8Array, tables: readonly (KeyTable | null)[],
): Contributions {
  if (document.wireForm === 'short') {
    return new ReducedContributions(document.questions[0]!.reduce);
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

  take(part: EpochPart): ReducedRows | null {
    const row = this.#open.take(part as RowPart);
    return row === null ? null : { rows: [[row]] };
  }

  *takeAll(): Generator<ReducedRows & { contributor: Uint8Array }> {
    for (const { contributor, row } of this.#open.takeAll()) {
      yield { contributor, rows: [[row]] };
    }
  }
}

/**
 * Of a study with a list of questions: each question reduces the rows that were sent. Memory: for
 * each incomplete contribution and question one row, or one for each of at most keysMax keys, and
 * in all at most `contributionBytes` for each of `peopleMax` people. Where keys are discovered, so
 * much is reserved before the study runs (server/studies/key-memory.ts).
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

  take(part: EpochPart): ReducedRows | null {
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
    return this.#reduced(contribution);
  }

  *takeAll(): Generator<ReducedRows & { contributor: Uint8Array }> {
    for (const [name, contribution] of this.#open) {
      yield { contributor: Buffer.from(name, 'latin1'), ...this.#reduced(contribution) };
    }
    this.#open.clear();
  }

  #reduced(contribution: Contribution): ReducedRows {
    const { reduction, tables } = this;
    return { rows: reduction.rowsOf(contribution, tables), cuts: reduction.cutsOf(contribution) };
  }

  #add(contribution: Contribution, batch: AcceptedBatch): void {
    const { contributor, values, rows, texts } = batch;
    const ranks = this.reduction.needsRanks ? recordRanks(this.assignmentKey, batch) : null;
    this.reduction.add(contribution, { values, rows, texts, ranks }, {
      keySecret: () => keySecretOf(this.assignmentKey, contributor),
    });
  }
}
