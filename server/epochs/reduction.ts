import { assert } from '../../src/base/assert.js';
import { copyNumbers } from '../../src/numerics/kernels/shared.js';
import { seededRandom } from '../../src/random/work.js';
import type { Question } from '../../src/base/questions.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { AcceptedBatch, EpochPart, RowPart } from './contract.js';
import { recordSeedOf } from './assignment-hashes.js';

/** What the epoch of a study gets of a batch. */
export function partOf(
  document: StudyDocument, assignmentKey: Uint8Array, batch: AcceptedBatch,
): EpochPart {
  return document.wireForm === undefined ? ownRows(batch)
    : reduceBatch(document.questions[0]!.reduce, document.columns.length, assignmentKey, batch);
}

/**
 * The batch without shared memory: the listener uses that again when the batch is answered, and the
 * epochs' thread gets the rows later.
 */
function ownRows(batch: AcceptedBatch): AcceptedBatch {
  const { values, texts } = batch;
  const own = isShared(values) ? new Float64Array(values.length) : values;
  if (own !== values) copyNumbers(values, own);
  if (texts === undefined) return { ...batch, values: own };
  return {
    ...batch, values: own,
    texts: texts.map((table) => (table === null || table === undefined || !('bytes' in table)
      || !isShared(table.bytes) ? table : { ...table, bytes: Uint8Array.from(table.bytes) })),
  };
}

function isShared({ buffer }: ArrayBufferView): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/**
 * A batch's addition to its contributor's single row. However many rows a contributor sends, an
 * estimator sees one row of it. That is why every cost is per contributor.
 *
 * `mean`: the row is the average of all records. Their sum is finite: see `valueMax`.
 * `sum`: the same, but the row is the sum of all records.
 * `one`: the row is the record with the smallest rank among all records of the contributor. Ranks
 * come from a keyed hash of the record's name (contributor, sequence, position). So the chosen
 * record does not depend on the division into batches or on the records' values.
 */
export function reduceBatch(
  reduce: Question['reduce'],
  dimension: number,
  assignmentKey: Uint8Array,
  batch: AcceptedBatch,
): RowPart {
  const { contributor, values, rows, complete } = batch;
  assert(values.length === rows * dimension
    && rows > 0, 'an accepted batch has rows of the study\'s dimension');
  if (reduce !== 'one') {
    return { contributor, values: sumOf(values, rows, dimension), rows, rank: 0n, complete };
  }
  const ranks = recordRanks(assignmentKey, batch);
  let best = 0;
  let smallest = Infinity;
  for (let row = 0; row < rows; row++) {
    if (ranks[row]! < smallest) [best, smallest] = [row, ranks[row]!];
  }
  const chosen = values.slice(best * dimension, (best + 1) * dimension);
  return { contributor, values: chosen, rows, rank: BigInt(smallest * 2 ** 53), complete };
}

/** The ranks of a batch's records, in [0, 1): `one` keeps the record with the smallest. */
export function recordRanks(
  assignmentKey: Uint8Array, { contributor, sequence, rows }: AcceptedBatch,
): Float64Array {
  const random = seededRandom(recordSeedOf(assignmentKey, contributor, sequence));
  return Float64Array.from({ length: rows }, () => random.uniform());
}

/**
 * The sum of each column, added row after row. Four columns at a time stay in registers, which
 * takes half the time of a loop over rows. Each sum has the same additions in the same order.
 */
function sumOf(values: Float64Array, rows: number, dimension: number): Float64Array {
  const sum = new Float64Array(dimension);
  const end = rows * dimension;
  let column = 0;
  for (; column + 4 <= dimension; column += 4) {
    let [first, second, third, fourth] = [0, 0, 0, 0];
    for (let at = column; at < end; at += dimension) {
      first += values[at]!;
      second += values[at + 1]!;
      third += values[at + 2]!;
      fourth += values[at + 3]!;
    }
    sum.set([first, second, third, fourth], column);
  }
  for (; column < dimension; column++) {
    for (let at = column; at < end; at += dimension) sum[column]! += values[at]!;
  }
  return sum;
}

/**
 * The incomplete contributions of one epoch. Each has a sum and a count, or the best record so far.
 * They are kept in the order of their first part, so that folding the rest at the close is the same
 * after a replay.
 */
export class OpenContributions {
  readonly #open = new Map<string, OpenContribution>();

  constructor(private readonly reduce: Question['reduce']) {}

  get size(): number {
    return this.#open.size;
  }

  /** Adds a part. Returns the contributor's row when the part completes the contribution. */
  take(part: RowPart): Float64Array | null {
    const name = Buffer.from(part.contributor).toString('latin1');
    const found = this.#open.get(name);
    const merged = found === undefined
      ? {
        contributor: part.contributor.slice(), values: part.values.slice(), rows: part.rows,
        rank: part.rank,
      }
      : this.#merge(found, part);
    if (!part.complete) {
      if (found === undefined) this.#open.set(name, merged);
      return null;
    }
    this.#open.delete(name);
    return this.#rowOf(merged);
  }

  /** Yields and removes all remaining contributions. */
  *takeAll(): Generator<{ readonly contributor: Uint8Array; readonly row: Float64Array }> {
    for (const contribution of this.#open.values()) {
      yield { contributor: contribution.contributor, row: this.#rowOf(contribution) };
    }
    this.#open.clear();
  }

  #merge(into: OpenContribution, part: RowPart): OpenContribution {
    if (this.reduce !== 'one') {
      for (let i = 0; i < into.values.length; i++) into.values[i]! += part.values[i]!;
    } else if (part.rank < into.rank) {
      into.values.set(part.values);
      into.rank = part.rank;
    }
    into.rows += part.rows;
    return into;
  }

  #rowOf(contribution: OpenContribution): Float64Array {
    const { rows, values } = contribution;
    return this.reduce === 'mean' ? values.map((sum) => sum / rows) : values;
  }
}

interface OpenContribution {
  readonly contributor: Uint8Array;
  readonly values: Float64Array;
  rows: number;
  rank: bigint;
}
