import type { JournalEntry, StudyId } from '../../../../server/store/contract.js';
import type { SlicePlace } from '../../../../server/store/postgres/slices.js';
import type { Slice } from '../../../../server/store/shared.js';
import type { StoreReads } from '../stored.js';

/** How long a claim holds after its last page, in virtual milliseconds: an epoch is 1,000. */
export const claimMs = 400;
const renewedBelowMs = 250;
/** As in the product. */
const claimsMost = 3;

interface SliceRow extends Slice {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  readonly plan: string;
  token: bigint;
  expiresAtMs: number;
  summary: Uint8Array | null;
}

/** A defect of slices, to see that the simulation finds it. */
export interface SlicePlant {
  /** A result is taken whatever was claimed since. */
  readonly takesLateResults?: boolean;
  /** Two workers get the contributors of the first slice: the second one beside its own. */
  readonly sharesSlice?: boolean;
}

export interface SlicesOptions {
  readonly nowMs: () => number;
  readonly stored: () => StoreReads;
  /** A result was written. @param newest the token of the newest claim. */
  readonly onResult: (row: Readonly<SliceRow>, token: bigint, newest: bigint) => void;
}

/**
 * The table of slices, and what its statements do: see server/store/postgres/slices.ts. Which
 * slice is read, when a claim is over and whose result counts is decided there in SQL, and here
 * once more.
 */
export class SimulatedSlices {
  plant: SlicePlant = {};
  /** How often a slice was claimed that another node had claimed before. */
  takenOver = 0;
  /** How often a node was told that its claim is over. */
  lost = 0;
  #rows: SliceRow[] = [];

  constructor(private readonly options: SlicesOptions) {}

  split(studyId: StudyId, epoch: bigint, slices: number, plan: string): boolean {
    if (!this.#isCharged(studyId, epoch) || this.#of(studyId, epoch).length > 0) return false;
    for (let slice = 0; slice < slices; slice++) {
      this.#rows.push({
        studyId, epoch, slice, slices, plan, token: 0n, expiresAtMs: -Infinity, summary: null,
      });
    }
    return true;
  }

  claim(studyIds: readonly StudyId[], plans: readonly string[]): Readonly<SliceRow> | null {
    const free = this.#rows.find((row) => row.summary === null && row.token < claimsMost
      && row.expiresAtMs < this.options.nowMs() && this.#isCharged(row.studyId, row.epoch)
      && studyIds.some((studyId, i) => studyId === row.studyId && plans[i] === row.plan));
    if (free === undefined) return null;
    if (free.token > 0n) this.takenOver += 1;
    free.token += 1n;
    this.#renew(free);
    return { ...free };
  }

  /** @returns whether the claim ends soon; null: it is over. */
  held(...name: SliceName): boolean | null {
    const row = this.#named(name);
    if (row !== undefined) return row.expiresAtMs < this.options.nowMs() + renewedBelowMs;
    this.lost += 1;
    return null;
  }

  renew(...name: SliceName): void {
    const row = this.#named(name);
    if (row !== undefined) this.#renew(row);
  }

  finish(...[studyId, epoch, slice, token, summary]: [...SliceName, Uint8Array]): boolean {
    const row = this.#named([studyId, epoch, slice, token]);
    if (row === undefined) return false;
    row.summary = summary.slice();
    this.options.onResult(row, token, row.token);
    return true;
  }

  giveBack(...name: SliceName): boolean {
    const row = this.#named(name);
    if (row === undefined) return false;
    row.expiresAtMs = -Infinity;
    return true;
  }

  left(studyId: StudyId, epoch: bigint): { readonly count: bigint; readonly failed: boolean } {
    const left = this.#of(studyId, epoch).filter(({ summary }) => summary === null);
    const failed = left.some(({ token, expiresAtMs }) =>
      token >= claimsMost && expiresAtMs < this.options.nowMs());
    return { count: BigInt(left.length), failed };
  }

  row(studyId: StudyId, epoch: bigint, slice: number): Readonly<SliceRow> | undefined {
    return this.#of(studyId, epoch).find((row) => row.slice === slice);
  }

  /** The rows of the epoch are deleted. */
  forget(studyId: StudyId, epoch: bigint): void {
    this.#rows = this.#rows.filter((row) => row.studyId !== studyId || row.epoch !== epoch);
  }

  /** Summaries are kept as they are: that they are sealed is for other tests. */
  place(): SlicePlace {
    return {
      journal: async (_, { studyId, epoch, slice, slices }, { after, limit }) => {
        const isShared = this.plant.sharesSlice === true && slice === 1;
        const isRead = (of: number): boolean => of === slice || (isShared && of === 0);
        return this.#entries(studyId, epoch).filter(({ position, contributor }) =>
          position > after && isRead(sliceOf(contributor, slices))).slice(0, limit);
      },
      seal: async (_session, _of, summary) => summary,
      open: async (_session, _of, sealed) => sealed,
    };
  }

  #entries(studyId: StudyId, epoch: bigint): readonly JournalEntry[] {
    return this.options.stored().journal(studyId, epoch, 0n, 100_000);
  }

  #isCharged(studyId: StudyId, epoch: bigint): boolean {
    return this.options.stored().epoch(studyId, epoch)?.state === 'charged';
  }

  #of(studyId: StudyId, epoch: bigint): readonly SliceRow[] {
    return this.#rows.filter((row) => row.studyId === studyId && row.epoch === epoch);
  }

  #named([studyId, epoch, slice, token]: SliceName): SliceRow | undefined {
    return this.#of(studyId, epoch).find((row) => row.slice === slice
      && (row.token === token || this.plant.takesLateResults === true));
  }

  #renew(row: SliceRow): void {
    row.expiresAtMs = this.options.nowMs() + claimMs;
  }
}

/** Study, epoch, slice, token. */
type SliceName = readonly [StudyId, bigint, number, bigint];

/** Any rule does that gives each contributor one slice. */
const sliceOf = (contributor: string, slices: number): number =>
  Number.parseInt(contributor.slice(0, 8), 16) % slices;
