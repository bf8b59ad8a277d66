import type { WorkRandom } from '../../src/random/source.js';
import { seededRandom } from '../../src/random/work.js';
import { utf8 } from '../../src/base/bytes.js';

/** Rows that stand side by side, as a list of views. */
export function listOf(values: Float64Array, dimension: number): Float64Array[] {
  return Array.from({ length: values.length / dimension }, (_, i) =>
    values.subarray(i * dimension, (i + 1) * dimension));
}

/** Reproducible data for tests: never noise. */
export interface DataSource {
  readonly work: WorkRandom;
  uniform(): number;
  normal(): number;
  normals(dimension: number): Float64Array;
  /** An integer in [0, below). */
  below(below: number): number;
  /** 32 bytes. */
  assignmentHash(): Uint8Array;
}

export function dataSource(seed: string): DataSource {
  const work = seededRandom(utf8(seed));
  const uniform = (): number => work.uniform();
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    work,
    uniform,
    normal,
    normals: (dimension) => Float64Array.from({ length: dimension }, normal),
    below: (below) => Math.floor(uniform() * below),
    assignmentHash() {
      const bytes = new Uint8Array(32);
      work.fill(bytes);
      return bytes;
    },
  };
}

/** The same items in another order. */
export function shuffled<Item>(items: readonly Item[], data: DataSource): Item[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = data.below(i + 1);
    [copy[i], copy[j]] = [copy[j]!, copy[i]!];
  }
  return copy;
}

/** A contaminated set: `hostile` first, moved by `shift` in every column. */
export function contaminated(
  data: DataSource,
  count: number,
  dimension: number,
  corruption: number,
  shift: number,
): Float64Array[] {
  return Array.from({ length: count }, (_, i) => {
    const row = data.normals(dimension);
    return i < corruption * count ? row.map((entry) => entry + shift) : row;
  });
}
