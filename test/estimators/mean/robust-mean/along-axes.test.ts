import { expect, it } from 'vitest';
import { removeAlongAxes } from '../../../../src/estimators/mean/robust-mean/along-axes.js';
import { axisEdge, coreOf } from '../../../../src/estimators/pooled/core-fit.js';
import { axisBins } from '../../../../src/estimators/pooled/valleys.js';
import { normalCdf } from '../../../../src/numerics/normal.js';

type Share = (x: number) => number;
const normal = (mean: number, width: number): Share => (x) => normalCdf((x - mean) / width);

/** Expected counts of 100,000 rows whose share below x is this. */
function countsOf(share: Share): Float64Array {
  const below = (bin: number): number => {
    const x = axisEdge(bin);
    return x === Infinity ? 1 : x === -Infinity ? 0 : share(x);
  };
  return Float64Array.from({ length: axisBins }, (_, bin) =>
    100_000 * (below(bin + 1) - below(bin)));
}

/** True if rows along the one axis go, where its released histogram has these counts. */
async function removes(counts: Float64Array): Promise<boolean> {
  let asked = false;
  const run = {
    design: { corruption: 0.1, axes: [{ name: 'axis', sigma: 40 }] },
    mechanisms: { gaussian: () => ({ value: counts }) },
  };
  await removeAlongAxes(run as never, {
    axes: [Float64Array.of(1, 0)], present: 100_000, frame: { map: null },
    clusters: { look: () => undefined, allows: () => (asked = true), roomIn: () => 15_000 },
    discrete: { known: [false, false], drawn: async () => [false, false] },
    rows: { map: () => undefined },
  } as never);
  return asked;
}

/** Nine tenths of the rows, and a tenth around `place`. */
const mixed = (place: number): Share => (x) =>
  0.9 * normal(-0.2, 0.8)(x) + 0.1 * normal(place, 0.8)(x);

it('removes what stands beside a core, unless one smooth shape explains it too', async () => {
  for (const [place, isRemoved] of [[2.3, true], [1.3, false]] as const) {
    const counts = countsOf(mixed(place));
    // The core alone would remove rows in both.
    expect(coreOf({ counts, noise: 40, corruption: 0.1 })).not.toBeNull();
    expect(await removes(counts)).toBe(isRemoved);
  }
});
