import { toHex } from '../../../../src/base/bytes.js';
import { textAt, type TextTable } from '../../../../src/base/text-table.js';
import type { StudyHub, SubmitResult, VerifiedBatch } from '../../../../server/studies/contract.js';
import {
  columns, kinds, ratedKeys, ratedPerMs, rowsMax, wordBytes,
} from './study.js';

type WithdrawalOptions = Parameters<StudyHub['withdraw']>[0];
type WithdrawalAnswer = Awaited<ReturnType<StudyHub['withdraw']>>;
interface Contribution { epoch: bigint; rows: number; complete: boolean }

/** A promise of the server that did not hold. */
export class BrokenPromise extends Error {}

export function must(holds: boolean, promise: string): void {
  if (!holds) throw new BrokenPromise(promise);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** What a cell of the study with typed columns may hold: amount, kind and word of each row. */
function judgeCells(values: Float64Array, texts: TextTable): void {
  for (let row = 0; row < values.length; row += columns) {
    const [amount, kind, place] = values.subarray(row, row + columns);
    must(Number.isNaN(amount) || Number.isFinite(amount), 'an amount is finite or absent');
    must(Number.isInteger(kind) && kind! >= 0 && kind! < kinds, 'a kind is on the list');
    const bytes = textAt(texts, place!);
    const word = decoder.decode(bytes);
    must(bytes.length > 0 && bytes.length <= wordBytes, 'a text fits its column');
    must(word === word.normalize('NFC') && word === word.trim()
      && !/\p{Cc}|\p{Cf}|\p{Co}/u.test(word), 'a text is in the one form');
  }
}

/**
 * What may count, decided a second time and from the outside: whatever the hub accepts must be
 * whole, finite, of this epoch, within the contribution's bound, and new. Is told in the order in
 * which the hub was asked, which is that of the journal; answers may come in another.
 */
export class Oracle {
  readonly #accepted = new Set<string>();
  readonly #contributions = new Map<string, Contribution>();
  readonly #known = new Set<string>();
  readonly #taken = new Map<number, number>();
  /** `study key epoch` of what was taken back. */
  readonly #withdrawn = new Set<string>();
  /**
   * The same of keys of which nothing counts: remembered only if something of theirs was refused
   * for good.
   */
  readonly #perhaps = new Set<string>();

  /** @param openEpoch of the study when the batch was handed over. */
  judge(batch: VerifiedBatch, result: SubmitResult, openEpoch: bigint): void {
    const who = `${batch.studyId} ${toHex(batch.contributor)}`;
    if (result.verdict !== 'accepted') return;
    const name = `${who} ${batch.sequence}`;
    must(!this.#accepted.has(name), 'a sequence counts once');
    this.#accepted.add(name);
    must(batch.rejectAs === undefined
      && batch.values !== undefined, 'what cannot be used is not accepted');
    must(batch.columns === columns
      && batch.values!.length === batch.rows * columns, 'rows have the study\'s columns');
    if (batch.texts === undefined) {
      must(batch.values!.every((value) => Number.isFinite(value)), 'rows are finite');
    } else judgeCells(batch.values!, batch.texts[2]!);
    must(batch.epoch === openEpoch
      || batch.epoch === openEpoch - 1n, 'a batch counts in its epoch or the next');
    this.#contribute(who, batch, openEpoch);
  }

  /**
   * Of the study with a rate: a key is new until a batch of it is settled, and no period has too
   * many.
   */
  judgeRate(batch: VerifiedBatch, result: SubmitResult, nowMs: number): void {
    const who = toHex(batch.contributor);
    if (result.code === 'too-many-new-keys') {
      must(!this.#known.has(who), 'a key that is known is not held back');
      must(result.retryAtMs !== undefined
        && result.retryAtMs > nowMs, 'who is held back is told until when');
    } else if (result.verdict === 'accepted' && !this.#known.has(who)) {
      this.#known.add(who);
      const period = Math.floor(nowMs / ratedPerMs);
      const taken = (this.#taken.get(period) ?? 0) + 1;
      this.#taken.set(period, taken);
      must(taken <= ratedKeys, 'a period takes so many new keys');
    }
  }

  /**
   * Of one that was answered: only the open epoch gives back, or one that did before. From then on
   * the contribution is complete, if the key was known: who never sent anything leaves no trace.
   * @param openEpoch of the study when the Withdraw was handed over.
   */
  judgeWithdrawal(request: WithdrawalOptions, result: WithdrawalAnswer, openEpoch: bigint): void {
    const who = `${request.studyId} ${request.contributor}`;
    const name = `${who} ${request.epoch}`;
    if (result.kind === 'refused') {
      must(openEpoch === 0n
        || request.epoch !== openEpoch, 'what the open epoch has may be taken back');
      const isRemembered = openEpoch > 0n && request.epoch + 1n >= openEpoch;
      must(!isRemembered
        || !this.#withdrawn.has(name), 'what was taken back lately is answered so again');
      return;
    }
    const isRepeated = this.#withdrawn.has(name) || this.#perhaps.has(name);
    must(request.epoch === openEpoch && openEpoch > 0n
      || isRepeated, 'a closed epoch keeps what it has');
    (this.#contributions.has(who) ? this.#withdrawn : this.#perhaps).add(name);
    if (!this.#contributions.has(who)) return;
    if (request.epoch === openEpoch) {
      this.#contributions.set(who, { epoch: openEpoch, rows: 0, complete: true });
    }
  }

  #contribute(who: string, batch: VerifiedBatch, epoch: bigint): void {
    const now = this.#contributions.get(who);
    const current = now !== undefined && now.epoch === epoch
      ? now : { epoch, rows: 0, complete: false };
    must(!current.complete, 'a complete contribution takes nothing more');
    const rows = current.rows + batch.rows;
    must(rows <= rowsMax, 'a contribution holds at most rowsMax rows');
    this.#contributions.set(who, { epoch, rows, complete: batch.last });
  }
}
