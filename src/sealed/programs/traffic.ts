import { placementIn, reallocatable } from '../../estimators/mean/robust-mean/reallocation.js';
import { openedEntries } from '../../privacy/accounting/sealed-cost.js';
import { binBits, type ColumnGrid } from '../shares/column-grid.js';
import type { ShareForm } from '../shares/form.js';
import { ProofTraffic } from '../proof/traffic.js';
import { TrafficCount, type Traffic } from '../steps/traffic.js';
import { outsideBit } from './ball.js';
import { fineRange } from './centre.js';
import type { TrafficRange } from './contract.js';
import { columnBins, endOf, type BinRange } from './columns.js';
import type { SealedRobustDesign } from './robust-design.js';
import { alongRange, axisLengthMost, distanceRange } from './robust-rows.js';
import { layoutOf, type Layout } from './rows.js';

/** The same in every run. */
const always = (traffic: Traffic): TrafficRange => ({ least: traffic, most: traffic });

/** The traffic of a program that counts bins numbered by `bits` bits, and opens some counts. */
export function countsTraffic(people: number, bits: number, opened: number): TrafficRange {
  const { words } = layoutOf(people);
  const count = new TrafficCount(new ProofTraffic());
  count.oneHot(bits, words);
  count.tally(2 ** bits, words);
  count.open(opened);
  return always(count.traffic);
}

/** The traffic of a mean. */
export function meanTraffic(people: number, grid: ColumnGrid, form: ShareForm): TrafficRange {
  const layout = layoutOf(people);
  const dimension = grid.lows.length;
  const count = centreAndBall(layout, grid, form);
  count.number(layout.words);
  count.open(1);
  count.dot(dimension, (dimension + 1) * layout.padded);
  count.open(dimension);
  return always(count.traffic);
}

/** The traffic of a robust mean. */
export function robustMeanTraffic(
  people: number, design: SealedRobustDesign,
): TrafficRange {
  const layout = layoutOf(people);
  return {
    least: robustTraffic(layout, design, false), most: robustTraffic(layout, design, true),
  };
}

function centreAndBall(
  { words, padded }: Layout, grid: ColumnGrid, form: ShareForm,
): TrafficCount {
  const { bits, lows: { length: dimension } } = grid;
  const [values, planes] = [dimension * padded, dimension * words];
  const count = new TrafficCount(new ProofTraffic());
  count.componentSum(form.count * padded, { from: bits - binBits, width: bits });
  count.number(2 * form.count * words);
  const histogram = (): void => {
    count.oneHot(binBits, planes);
    count.tally(columnBins * dimension, words);
    count.open(columnBins * dimension);
  };
  histogram();
  binning(count, values, planes, fineRange(grid));
  histogram();
  count.dot(padded, dimension * padded);
  count.bits(padded, { from: outsideBit(bits), end: outsideBit(bits) + 1 });
  if (form.count > dimension) count.and(words);
  return count;
}

/** `binPlanes`, but for its one-hot. */
function binning(count: TrafficCount, values: number, words: number, range: BinRange): void {
  const end = endOf(range);
  count.bits(values, { from: range.width, end });
  for (let left = end - range.width - binBits; left > 1; left = Math.ceil(left / 2)) {
    count.and((left >> 1) * words);
  }
  count.and(2 * words);
}

function robustTraffic(
  layout: Layout, { grid, form, published: { rounds, ball, sum } }: SealedRobustDesign,
  isLookedFor: boolean,
): Traffic {
  const { words, padded } = layout;
  const dimension = grid.lows.length;
  const count = centreAndBall(layout, grid, form);
  const histogram = (range: BinRange): void => {
    binning(count, padded, words, range);
    count.oneHot(binBits, words);
    count.tally(columnBins, words);
    count.open(columnBins);
  };
  const looks = isLookedFor ? rounds : rounds.slice(0, 1);
  for (const { sum: sums, square, distance, histograms } of looks) {
    count.number(words);
    count.dot(dimension * padded, (dimension + 1) * padded);
    count.dot((dimension * (dimension + 1)) / 2, 2 * dimension * padded);
    for (const event of [{ ...sums, dimension: 1 }, sums, square]) count.open(openedEntries(event));
    if (!isLookedFor) continue;
    if (distance !== null) histogram(distanceRange(ball, dimension, ball.steps));
    histograms.forEach(() => histogram(alongRange(ball, axisLengthMost(dimension))));
  }
  // After a removal it is not known as numbers who is left.
  if (isLookedFor || rounds.length === 0) count.number(words);
  count.dot(dimension, (dimension + 1) * padded);
  const unused = isLookedFor ? [] : rounds.flatMap((round, i) =>
    reallocatable(round).filter((event) =>
      i > 0 || (event !== round.sum && event !== round.square)));
  for (const event of [sum, ...unused]) {
    if (placementIn(event, ball, dimension) !== null) count.open(openedEntries(event));
  }
  count.open(1);
  return count.traffic;
}
