import { pow } from '../../../base/elementary.js';
import {
  FarSide, type CellNoise, type FarWindow, type SeenRule, type SideCells,
} from '../../pooled/far-side.js';
import { aboveAt } from './cap-ladder.js';
import { unseenTail } from './unseen-tail.js';

/**
 * The reading of the released cells of one column for its total: the cap, what people above it add
 * to the total, and what noise may hide of them (pooled/far-side).
 *
 * All of it is post-processing of released counts and public numbers. Never give it true counts.
 *
 * The core is the fullest cell above the lowest. Everything below the cap is in the clipped total,
 * so only cells above the cap matter, and no cap is below the core. The cap has the smallest sum of
 * what its interval then consists of: the noise of the total, which grows with the cap, the noise
 * of the cells above, the widths of these cells, and half of the unseen tail. Windows that are only
 * possible have no say, so noise alone does not make an answer worse.
 *
 * What it cannot do. No interval both is finite and shows every group, so it stands on an
 * assumption: no group of fewer than `clusterSeenFrom` people has values far above the others.
 * Such a group adds at most so many times capMax, which is public.
 */

/** A column without values above the lowest cap is taken for one with a core this often. */
const falseCore = 1 / 4_000;
/** Part of half a cell's width that the rows of a contiguous tail may be off by. */
const widthPart = 1 / 4;
/** Cells on each side of a window that may hold people of its group: an octave. */
const besideMost = 2;
/**
 * A tail goes on where a cell alone, or up to four of two octaves together, are above this point of
 * the noise. It is generous: a false cell adds noise that the interval has in it, and a tail that
 * is cut off too early loses its rate.
 */
const seen: SeenRule = { together: 4, quarters: 8, outermost: 1.5, chance: 1.5e-3 };

/** Public. */
export interface CapReader {
  readonly noise: CellNoise;
  readonly columns: number;
  readonly cohort: number;
  /** Half of the 95 % interval of the noise of a total in caps, and of a cell in people. */
  readonly totalHalf: number;
  readonly cellHalf: number;
}

/** In units of the cap, or sums of values in them. */
export interface CapReading {
  /** The place of the cap in the ladder. */
  readonly cap: number;
  /** The amount that people above the cap add beyond it, as far as cells show them. */
  readonly excess: number;
  /** The noise of the excess is that of one cell times this. */
  readonly weight: number;
  /** Half of the 95 % interval of the noise of the total and of the excess. */
  readonly half: number;
  /** How far off the excess may be either way. */
  readonly eitherWay: number;
  /** How much is missing in it, besides. */
  readonly more: number;
  /** No cell shows a small group beyond this. */
  readonly seenUpTo: number;
  readonly windows: readonly FarWindow[];
}

/** A cell with more noisy people than this surely holds some. */
export function coreFrom({ noise, columns }: Pick<CapReader, 'noise' | 'columns'>): number {
  return noise.upper(falseCore / (2 * aboveAt * columns), 1);
}

/**
 * Reads one column. O(cells^2). Null: noise hides the core.
 * @param counts - noisy, of the cells of the caps in turn, and of those above all caps.
 */
export function readCap(counts: Float64Array, reader: CapReader): CapReading | null {
  const { noise, cohort, totalHalf, cellHalf } = reader;
  let fullest = 1;
  for (let cell = 2; cell <= aboveAt; cell++) if (counts[cell]! > counts[fullest]!) fullest = cell;
  const leastCore = coreFrom(reader);
  if (!(counts[fullest]! > leastCore)) return null;
  const core = Math.min(fullest, aboveAt - 1);
  const cells = cellsFrom(core, leastCore);
  const side = new FarSide(cells, counts.subarray(core, aboveAt + 1), noise, cohort);
  const readings = Array.from({ length: aboveAt - core }, (_, place) => {
    const radius = pow(2, place / 2);
    const { sum, deviation } = side.excess(radius);
    const { forRadius, eitherWay, more } = side.allowance(radius);
    const weight = deviation / noise.sigma;
    const half = Math.hypot(radius * totalHalf, weight * cellHalf);
    const loss = half + forRadius;
    return { place, radius, loss, sum, weight, half, eitherWay, more };
  });
  const { place, radius, sum, weight, half, eitherWay, more } = readings.reduce((best, other) =>
    (other.loss < best.loss ? other : best));
  return {
    cap: core + place,
    excess: sum / radius, weight: weight / radius, half: half / radius,
    eitherWay: eitherWay / radius, more: more / radius,
    seenUpTo: Math.max(1, side.tailEnd / radius),
    windows: side.windows.map((window) =>
      ({ ...window, from: window.from / radius, to: window.to / radius })),
  };
}

/**
 * The cells from the core on, half octaves in units of its upper edge. The last one holds everybody
 * above capMax, who counts as at it.
 */
function cellsFrom(core: number, leastCore: number): SideCells {
  const places = Array.from({ length: aboveAt - core + 1 }, (_, place) => place);
  const end = places.length;
  const farthest = pow(2, (end - 2) / 2);
  const lows = places.map((place) => pow(2, (place - 1) / 2));
  const highs = places.map((place) => Math.min(farthest, pow(2, place / 2)));
  return {
    quarters: [...places, end].map((place) => 2 * place - 2),
    lows, highs, middles: lows.map((low, place) => (low + highs[place]!) / 2),
    finite: end, widthPart: () => widthPart, seen, tail: unseenTail(farthest, leastCore),
    beside: besideMost, besidePossible: true,
  };
}
