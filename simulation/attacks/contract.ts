import type { WorkRandom } from '../../src/random/source.js';

/** The knowledge of hostile contributors, and the randomness that they share. */
export interface AttackContext {
  readonly columns: number;
  /** One per column, in data units: the unit of an attack's strength. */
  readonly spread: readonly number[];
  /** One per column: the centre of honest rows. Attackers are assumed to know it. */
  readonly centre: readonly number[];
  /** For each column how many names it holds; null for a column of numbers. Default: no names. */
  readonly names?: readonly (number | null)[];
  /**
   * For each column how many further names an attacker can invent, 0 where only listed names can be
   * sent. They are numbered from `names` on. Default: none.
   */
  readonly invented?: readonly number[];
  /** Rows that a contribution may have. Default: as many as the honest one has. */
  readonly rowsMax?: number;
  /** The distance by which the attack moves rows, in spreads. */
  readonly strength: number;
  /** Epochs since this attack began, from 0. Slow attacks use it. */
  readonly age: number;
  /** The same for all hostile contributors of a fleet, in every epoch, so that they can agree. */
  readonly shared: WorkRandom;
  /** Belongs to this contributor and epoch alone. */
  readonly own: WorkRandom;
}

/**
 * An attack on the numbers: a pure function of the rows that an honest contributor would have sent.
 */
export interface RowAttack {
  readonly name: string;
  /** The attack's effect and purpose, for people. */
  readonly title: string;
  /** In spreads. The fleet's option replaces it. */
  readonly defaultStrength: number;
  /** True when the rows hold values that the client itself refuses to encode. */
  readonly unchecked?: boolean;
  /**
   * Returns attacked rows, row-major, with the same columns. `ballot-stuffing` and `evict-groups`
   * make more rows. Does not change its input.
   */
  apply(rows: Float64Array, context: AttackContext): Float64Array;
}
