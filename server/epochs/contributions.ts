import type { KeyTable } from '../../src/questions/key-table.js';
import { StudyReduction, type Contribution } from '../../src/questions/reduction.js';
import { seededRandom } from '../../src/random/work.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { keySecretOf, recordSeedOf } from './assignment-hashes.js';
import type { AcceptedBatch } from './contract.js';

/** One contributor's rows, reduced for each question. */
export interface ReducedRows {
  /** For each question, the rows that its estimator sees. */
  readonly rows: readonly (readonly Float64Array[])[];
  /** For each question, whether there were more keys than count for one. Absent: for none. */
  readonly cuts?: readonly boolean[];
}

/**
 * The incomplete contributions of one epoch, in the order of their first batch, so that a replay
 * folds them in the same order. Each question reduces the rows that were sent. Memory: for each
 * incomplete contribution and question one row, or one for each of at most groupsMax keys, and in
 * all at most `contributionBytes` for each of `peopleMax` people. Where keys are discovered, so
 * much is reserved before the study runs (server/studies/live/key-memory.ts).
 */
export class Contributions {
  /** Keyed by the bytes of the contributor's key, each as a character. */
  readonly #open = new Map<string, Contribution>();

  private readonly reduction: StudyReduction;

  /** @param tables - for each question the table of its discovered keys. */
  constructor(
    document: StudyDocument, private readonly assignmentKey: Uint8Array,
    private readonly tables: readonly (KeyTable | null)[],
  ) {
    this.reduction = new StudyReduction(document.questions, document);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds a batch. Returns the contributor's rows when the batch completes the contribution. */
  take(batch: AcceptedBatch): ReducedRows | null {
    const name = Buffer.from(batch.contributor).toString('latin1');
    let contribution = this.#open.get(name);
    if (contribution === undefined) {
      contribution = this.reduction.empty();
      this.#open.set(name, contribution);
    }
    this.#add(contribution, batch);
    if (!batch.complete) return null;
    this.#open.delete(name);
    return this.#reduced(contribution);
  }

  /** Yields and removes all remaining contributions. */
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

/** The ranks of a batch's records, in [0, 1): `one` keeps the record with the smallest. */
function recordRanks(
  assignmentKey: Uint8Array, { contributor, sequence, rows }: AcceptedBatch,
): Float64Array {
  const random = seededRandom(recordSeedOf(assignmentKey, contributor, sequence));
  return Float64Array.from({ length: rows }, () => random.uniform());
}
