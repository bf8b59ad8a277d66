import { toHex } from '../../src/base/bytes.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { batchRows, decodeBatchBody, decodeReleaseBody } from '../../src/wire/index.js';
import type { StudyView } from '../hub.js';
import type { Store } from '../store/contract.js';
import type { ContributorEvidence, EpochEvidence } from './evidence-contract.js';

/** Epochs looked at, newest first; journal entries looked through in all, and at a time; releases searched for an answer. */
const epochsMax = 8;
const entriesMax = 200_000;
const pageEntries = 512;
const releasesMax = 32;

/**
 * Reads the contributor's rows out of the journal and measures them against the newest answer. Distances are Euclidean
 * over columns, and one number per epoch: rows themselves stay where they are. Cost: one pass over what the journal holds
 * of the epochs, in pages, so that batches are admitted in between.
 * @param entriesMost journal entries, anybody's, after which to give up.
 */
export async function gatherEvidence(
  store: Store, view: StudyView, contributor: Uint8Array, entriesMost = entriesMax,
): Promise<ContributorEvidence> {
  const { studyId, document } = view;
  const key = toHex(contributor);
  const answer = await newestPoint(store, view);
  const scale = scaleOf(document);
  const kept = (await store.unpurgedEpochs(studyId)).map(({ epoch }) => ({ epoch, released: true }));
  const wanted = [...kept, ...(view.epoch === 0n ? [] : [{ epoch: view.epoch, released: false }])].slice(-epochsMax);
  let left = entriesMost;
  const epochs: EpochEvidence[] = [];
  // The open epoch first: it is what an operator asks about.
  for (const { epoch, released } of wanted.toReversed()) {
    const own = new OwnRows(document.columns.length, answer?.point ?? null, scale);
    for (let after = 0n; left > 0;) {
      const page = await store.journal(studyId, epoch, after, Math.min(pageEntries, left));
      if (page.length === 0) break;
      left -= page.length;
      after = page.at(-1)!.position;
      for (const entry of page) if (entry.contributor === key) own.add(entry.body, entry.complete);
    }
    if (own.rows > 0) epochs.unshift({ epoch, released, ...own.measured() });
  }
  return {
    study: view.name, contributor: key, answer: answer === null ? null : { index: answer.index, epoch: answer.epoch },
    unit: scale === null ? 'columns' : 'scale', epochs, truncated: left <= 0,
  };
}

/** A contributor's rows of one epoch, as far as distances need them. */
class OwnRows {
  rows = 0;
  #complete = false;
  #farthest = 0;
  readonly #sums: Float64Array;

  constructor(
    private readonly dimension: number,
    private readonly point: readonly number[] | null,
    private readonly scale: readonly number[] | null,
  ) {
    this.#sums = new Float64Array(dimension);
  }

  add(body: Uint8Array, complete: boolean): void {
    const values = batchRows(decodeBatchBody(body));
    this.#complete ||= complete;
    for (let start = 0; start < values.length; start += this.dimension) {
      const row = values.subarray(start, start + this.dimension);
      for (let i = 0; i < this.dimension; i++) this.#sums[i]! += row[i]!;
      this.rows += 1;
      if (this.point !== null) this.#farthest = Math.max(this.#farthest, this.#distance(row, this.point));
    }
  }

  measured(): Omit<EpochEvidence, 'epoch' | 'released'> {
    const { point, rows } = this;
    return {
      rows, complete: this.#complete,
      distance: point === null ? null : rounded(this.#distance(this.#sums.map((sum) => sum / rows), point)),
      farthest: point === null ? null : rounded(this.#farthest),
    };
  }

  #distance(row: Float64Array, point: readonly number[]): number {
    return Math.hypot(...point.map((value, i) => (row[i]! - value) / (this.scale?.[i] ?? 1)));
  }
}

/** The newest release whose answer is a row like those of contributors. */
async function newestPoint(
  store: Store, { studyId, document, releaseCount }: StudyView,
): Promise<{ readonly index: number; readonly epoch: bigint; readonly point: readonly number[] } | null> {
  const from = Math.max(0, releaseCount - releasesMax);
  const releases = await store.releases(studyId, from, releasesMax);
  for (const { index, epoch, body } of releases.toReversed()) {
    const { outcome } = decodeReleaseBody(body);
    if (outcome.kind !== 'value' || outcome.parts !== undefined) continue;
    if (outcome.shape.length === 1 && outcome.estimate.length === document.columns.length) {
      return { index, epoch, point: outcome.estimate };
    }
  }
  return null;
}

/** The public scale of each column, where the estimator has one. */
function scaleOf({ parameters, columns }: StudyDocument): readonly number[] | null {
  const { scale } = parameters;
  if (typeof scale === 'number') return columns.map(() => scale);
  if (!Array.isArray(scale) || scale.length !== columns.length) return null;
  return scale.every((each) => typeof each === 'number') ? scale : null;
}

function rounded(value: number): number {
  return Number(value.toPrecision(2));
}
