import { ln, pow } from '../../../base/elementary.js';
import { between, hidden, type Read, type SideCells } from '../../pooled/far-side.js';

/**
 * How much the values past the last cell that is seen may add to a total.
 *
 * The tail is taken to fall from octave to octave by one rate r, which is that of a Pareto law of
 * order log2(1 / r). The rate is the smallest of up to three: two octaves over the two before, one
 * over the one before, and half an octave over the half before, each by octave. Where none of the
 * denominators is above the noise, it is what the next octave may hold over what the last one
 * surely holds: the core is the fullest of many cells, so one that is just seen may be noise. With
 * a rate above 1/2 each octave adds more than the one before, up to cap-max, and such rates are
 * those of very unequal values, as of costs and wealth: so the rate is only limited by 1, which is
 * rows that do not get fewer. A total is of the people who came, not of a law, so its tail varies
 * as the law's does: half of tails have a value beyond 1.4 N^(1 / order) ends of the tail, and this
 * one value is most of what the tail is above its mean. So the interval allows for the value that
 * one tail in ten exceeds, beside the noise, as a root of the sum of squares.
 *
 * Post-processing of released counts. Measured, not proved: see docs/guides/total-of-a-cost.md.
 */

/** Limits of the rate; the slowest is that of rows which do not get fewer. */
const [slowest, fastest] = [1, 0.06] as const;
/** A cap reaches for this part of the rows past the tail, and not for those of a slower one. */
const [partForRadius, slowestForRadius] = [1 / 4, 0.44] as const;
/** Deviations of noise that are added to the rows of a rate. */
const slackOfRate = 1.6;
/** Deviations of noise that are added to the rows of the last octave. */
const slackOfRows = 2;
/** A rate is seen where the rows before are above so many deviations. */
const seenFrom = 4;
/** The largest value of a tail is beyond what is allowed for this often. */
const largestChance = 0.1;
/** Quarter octaves of the stretches that give a rate. */
const stretches = [8, 4, 2] as const;

/** Rows in the octave past the end of a tail, and those of an octave over the one before. */
interface Past {
  readonly next: number;
  readonly rate: number;
}

/**
 * @param farthest - no value is above this, in the unit of the cells.
 * @param leastCore - the noisy people of a core that is just seen.
 */
export function unseenTail(farthest: number, leastCore: number): SideCells['tail'] {
  return (read, last) => {
    const end = read.cells.highs[last]!;
    if (end >= farthest) return () => ({ most: 0, forRadius: 0 });
    const [most, about] = [pastOf(read, last, leastCore, 1), pastOf(read, last, leastCore, 0)];
    const forRadius = { ...most, rate: Math.min(slowestForRadius, most.rate) };
    const largest = Math.min(farthest, end * pow(2, octavesOf(most)));
    return (radius) => {
      const mean = excessOf(about, { end, farthest, radius });
      const noisy = excessOf(most, { end, farthest, radius });
      return {
        most: mean + Math.hypot(noisy - mean, Math.max(0, largest - radius)),
        forRadius: partForRadius * excessOf(forRadius, { end, farthest, radius }),
      };
    };
  };
}

/** Octaves past the end up to the value that is allowed for as the largest. */
function octavesOf({ next, rate }: Past): number {
  if (rate === 1) return Infinity;
  return ln(Math.max(1, next / (1 - rate) / largestChance)) / -ln(rate);
}

/** @param slack - 1 for what there may be, 0 for what there is about. */
function pastOf(read: Read, last: number, leastCore: number, slack: 0 | 1): Past {
  const { cells: { quarters }, noise } = read;
  const end = quarters[last + 1]!;
  const rowsIn = (from: number, to: number): number => between(read, from, to).rows;
  const past = between(read, end, end + 4);
  const allowed = past.rows + slack * hidden(noise, Math.max(1, past.cells));
  const rates = stretches.flatMap((stretch) => {
    const [rows, before] = [rowsIn(end - stretch, end), rowsIn(end - 2 * stretch, end - stretch)];
    const deviation = noise.sigma * Math.sqrt(stretch / 2);
    // The core, at -2 to 0, is in none of them.
    if (end - 2 * stretch < 0 || before <= seenFrom * deviation) return [];
    const share = (rows + slack * slackOfRate * deviation) / Math.max(before, rows + 1);
    return [pow(share, 4 / stretch)];
  });
  const octave = Math.max(1, (end < 4 ? read.counts[0]! : 0) + rowsIn(end - 4, end));
  const rate = Math.min(
    slowest, Math.max(fastest, Math.min(...rates.length > 0 ? rates
      : [allowed / Math.max(1, octave - slack * leastCore)])));
  if (rates.length === 0) return { next: allowed, rate };
  const led = (rowsIn(end - 4, end) + slack * slackOfRows * noise.sigma) * rate;
  return { next: Math.min(allowed, led), rate };
}

/**
 * How far such rows reach beyond a radius, in sum, on average. Rows of an octave are taken to be at
 * the root of 2 times its start, and those of the first octave past the farthest, at it.
 */
function excessOf(
  { next, rate }: Past,
  { end, farthest, radius }: {
    readonly end: number; readonly farthest: number; readonly radius: number;
  },
): number {
  let sum = 0;
  for (let [rows, low] = [next, end]; low < 2 * farthest; rows *= rate, low *= 2) {
    sum += rows * Math.max(0, Math.min(farthest, Math.SQRT2 * low) - radius);
  }
  return sum;
}
