import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { privateDiscreteColumns } from '../../../privacy/stages/equal-pairs.js';
import type { CentredPool } from '../../pooled/estimator.js';
import type { Core } from '../../pooled/core-fit.js';
import { clusterShares, sumOf } from '../../pooled/valleys.js';
import type { AnyRun } from './any-design.js';
import { takeBack, type MappedRows } from './mapped.js';

/** Rows past the bins of an axis of the mapped rows: nobody knows how far. */
export interface RowsPast {
  readonly axis: Float64Array;
  /** Noisy number. */
  readonly rows: number;
}

/** A core along an axis of the mapped rows, whose excess went. */
export interface CoreAlong extends Core {
  readonly axis: Float64Array;
}

/**
 * Bounds the rows left out, so that it is never more than the stated share explains: the rows of
 * all clusters, along every axis and by distance, are at most as many as those of one may be. Where
 * they are more, at least a third of them is honest, so honest rows have clusters of their own, and
 * which ones those are nobody can tell: all rows are taken back. Hostile rows can bring this about
 * only where honest ones have a cluster already. Everything it knows is released, and a row that is
 * taken back is left as it was at first: whether it is left stays a function of this row and of
 * releases.
 */
export class Clusters {
  #gone = 0;
  /** Variance of its noise. */
  #variance = 0;
  /** How often rows went. */
  #times = 0;
  #cores: CoreAlong[] = [];
  #past: RowsPast | null = null;
  hasUndone = false;

  constructor(private readonly corruption: number, private readonly rows: Sensitive<MappedRows>) {}

  get isApart(): boolean {
    return this.#gone > 0;
  }

  #most(whole: number): number {
    return clusterShares.most * this.corruption * whole;
  }

  /** The cores of which an excess went, along their axes. */
  get cores(): readonly CoreAlong[] {
    return this.#cores;
  }

  /** The most rows that stood past the bins of one axis; null: none stood out from noise. */
  get past(): RowsPast | null {
    return this.#past;
  }

  /** Notes the rows past the bins of an axis. @param counts - released. */
  look(counts: Float64Array, noise: number, axis: Float64Array): void {
    const rows = Math.max(counts[0]!, 0) + Math.max(counts.at(-1)!, 0);
    if (Math.max(counts[0]!, counts.at(-1)!) > pastFrom * noise
      && rows > (this.#past?.rows ?? 0)) this.#past = { axis, rows };
  }

  /** All rows that went are an excess of a core. */
  get isOfCores(): boolean {
    return this.#cores.length > 0 && this.#cores.length === this.#times;
  }

  /** How many rows may still go. @param whole - the noisy number of all rows. */
  roomIn(whole: number): number {
    return this.#most(whole) - this.#gone;
  }

  /**
   * True if the cluster in these bins may go as well; if not, all that went before is back.
   * @param whole - the noisy number of all rows.
   * @param core - that these bins are in excess of.
   */
  allows(
    counts: Float64Array, noise: number, whole: number, core: CoreAlong | null = null,
  ): boolean {
    const gone = this.#gone + Math.max(1, sumOf(counts));
    const variance = this.#variance + counts.length * noise ** 2;
    if (gone > this.#most(whole) + chance * Math.sqrt(variance)) {
      this.undo();
      this.hasUndone = true;
      return false;
    }
    [this.#gone, this.#variance] = [gone, variance];
    this.#times += 1;
    if (core !== null) this.#cores.push(core);
    return true;
  }

  /** Takes all rows back. */
  undo(): void {
    this.rows.map(takeBack);
    [this.#gone, this.#variance, this.#times, this.#cores] = [0, 0, 0, []];
  }
}

/** An outermost bin holds rows from so many standard deviations of its noise on. */
const pastFrom = 4.5;
/** Standard deviations that noise may add to the rows of all clusters. */
const chance = 3;

/** Which columns are discrete, as far as it is known. */
export class DiscreteColumns {
  #drawn: readonly boolean[] | null = null;

  constructor(
    private readonly run: AnyRun, private readonly found: CentredPool,
    private readonly present: number,
  ) {}

  get known(): readonly boolean[] {
    return this.#drawn ?? this.found.columns.discrete;
  }

  /** Nothing was asked that would have needed it. */
  get unused(): readonly GaussianEvent[] {
    const { equal } = this.run.design;
    return equal === null || this.#drawn !== null ? [] : [equal];
  }

  /** Draws which columns are discrete, once. */
  async drawn(): Promise<readonly boolean[]> {
    const { compute, mechanisms, design: { equal, facts } } = this.run;
    if (equal === null) return this.known;
    return this.#drawn ??= (await privateDiscreteColumns(
      compute, mechanisms, this.found.pool, equal,
      { contributors: facts.cohort, present: this.present },
    )).value;
  }
}
