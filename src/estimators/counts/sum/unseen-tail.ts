import { ln, pow } from '../../../base/elementary.js';
import { between, hidden, type Read, type SideCells } from '../../pooled/far-side.js';

/**
 * How much the values past the last cell that is seen may add to a total.
 *
 * The tail is taken to fall from octave to octave by one rate r, which is that of a Pareto law of
 * order log2(1 / r). The rate is the smallest of up to three: two octaves over the two before, one
 * over the one before, and half an octave over the half before, each by octave. Where none of the
 * denominators is above the noise, it is `usualRate`, and what the next octave may hold says how
 * many there are. A total is of the people who came, not of a law, so its tail varies as the law's
 * does: half of tails have a value beyond 1.4 N^(1 / order) ends of the tail, and this one value is
 * most of what the tail is above its mean. So the interval allows for the value that one tail in
 * ten exceeds, beside the noise, as a root of the sum of squares.
 *
 * Post-processing of released counts. Measured, not proved: see docs/guides/total-of-a-cost.md.
 */

/** Limits of the rate, and the rate where it is not seen. */
const [slowest, fastest, usualRate] = [0.44, 0.06, 0.25] as const;
/** Deviations of noise that are added to the rows of a rate. */
const slackOfRate = 1.3;
/** Deviations of noise that are added to the rows of the last octave. */
const slackOfRows = 2;
/** A rate is seen where the rows before are above so many deviations. */
const seenFrom = 4;
/** The largest value of a tail is beyond what is allowed for this often. */
const largestChance = 0.1;
/** Quarter octaves of the stretches that give a rate. */
const stretches = [8, 4, 2] as const;

/** Rows past the end of a tail, and rows of an octave over those of the one before. */
interface Past {
  readonly rows: number;
  readonly rate: number;
}

/** @param farthest - no value is above this, in the unit of the cells. */
export function unseenTail(farthest: number): SideCells['tail'] {
  return (read, last) => {
    const end = read.cells.highs[last]!;
    if (end >= farthest) return () => ({ most: 0, forRadius: 0 });
    const [most, about] = [pastOf(read, last, 1), pastOf(read, last, 0)];
    const octaves = ln(Math.max(1, most.rows / largestChance)) / -ln(most.rate);
    const largest = Math.min(farthest, end * pow(2, octaves));
    return (radius) => {
      const mean = excessOf(about, { end, farthest, radius });
      const noisy = excessOf(most, { end, farthest, radius });
      return {
        most: mean + Math.hypot(noisy - mean, Math.max(0, largest - radius)),
        // A cap that reached for one value would cost all answers more noise.
        forRadius: noisy / 2,
      };
    };
  };
}

/** @param slack - 1 for what there may be, 0 for what there is about. */
function pastOf(read: Read, last: number, slack: 0 | 1): Past {
  const { cells: { quarters }, noise } = read;
  const end = quarters[last + 1]!;
  const rowsIn = (from: number, to: number): number => between(read, from, to).rows;
  const next = between(read, end, end + 4);
  const allowed = next.rows + slack * hidden(noise, Math.max(1, next.cells));
  const rates = stretches.flatMap((stretch) => {
    const [rows, before] = [rowsIn(end - stretch, end), rowsIn(end - 2 * stretch, end - stretch)];
    const deviation = noise.sigma * Math.sqrt(stretch / 2);
    // The core, at -2 to 0, is in none of them.
    if (end - 2 * stretch < 0 || before <= seenFrom * deviation) return [];
    const share = (rows + slack * slackOfRate * deviation) / Math.max(before, rows + 1);
    return [pow(share, 4 / stretch)];
  });
  if (rates.length === 0) return { rows: allowed / (1 - usualRate), rate: usualRate };
  const rate = Math.min(slowest, Math.max(fastest, Math.min(...rates)));
  const led = (rowsIn(end - 4, end) + slack * slackOfRows * noise.sigma) * rate;
  return { rows: Math.min(allowed, led) / (1 - rate), rate };
}

/** How far such rows reach beyond a radius, in sum, on average. */
function excessOf(
  { rows, rate }: Past,
  { end, farthest, radius }: {
    readonly end: number; readonly farthest: number; readonly radius: number;
  },
): number {
  const place = Math.SQRT2 * (1 - rate) / (1 - 2 * rate);
  if (2 * end >= radius) return rows * Math.max(0, Math.min(farthest, place * end) - radius);
  const past = rows * pow(rate, ln(radius / end) / Math.LN2);
  return past * Math.max(0, Math.min(farthest, place * radius) - radius);
}
