import type { WorkRandom } from '../../src/random/source.js';

/** What hostile contributors know and agree on. */
export interface AttackContext {
  readonly columns: number;
  /** One per column, in data units: what an attack's strength is counted in. */
  readonly scale: readonly number[];
  /** One per column: where honest rows lie. Attackers are assumed to know it. */
  readonly centre: readonly number[];
  /** How far the attack moves things, in scales. */
  readonly strength: number;
  /** Epochs since this attack began, from 0: for those that take their time. */
  readonly age: number;
  /** The same for all hostile contributors of a fleet, in every epoch: what they agree on. */
  readonly shared: WorkRandom;
  /** This contributor's own, in this epoch. */
  readonly own: WorkRandom;
}

/** An attack on the numbers: a pure function from the rows that an honest contributor would have sent. */
export interface RowAttack {
  readonly name: string;
  /** What it does and what it tests, for people. */
  readonly title: string;
  /** In scales; the option of the fleet replaces it. */
  readonly defaultStrength: number;
  /** True when the rows hold what the client itself refuses to encode. */
  readonly unchecked?: boolean;
  /** Row-major, same shape. The rows given are not changed. */
  apply(rows: Float64Array, context: AttackContext): Float64Array;
}
