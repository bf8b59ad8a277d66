// The values that a sealed robust mean opens, computed in the clear: the reference of
// test/sealed/equality, and the quick way to measure its error. It shares nothing with the servers'
// steps but the public code that decides what is opened next, which is given as `library`.

const bins = 64;
const clampedBin = (bin) => Math.min(bins - 1, Math.max(0, bin));

function countsOf(count, binOf) {
  const counts = new Float64Array(bins);
  for (let i = 0; i < count; i++) counts[clampedBin(binOf(i))] += 1;
  return counts;
}

/**
 * @param library - exports of the project that are public post-processing.
 * @param design - of `sealedRobustDesign`.
 * @param rows - whole numbers below 2^bits: `values` in rows, and their `count`.
 * @param open - (event's name, whole numbers, unit) => promise of what is opened, in the event's
 *   units. Of a symmetric matrix the entries i <= j go in, and all entries come out.
 * @returns the outcome.
 */
export async function clearRobustMean(library, design, { values, count }, open) {
  const { facts, grid, published } = design;
  const { steps, outside } = await centreOf(library, design, { values, count }, open);
  if (steps.includes(null)) return library.participationBelowPlan(facts);
  const d = facts.dimension;
  const about = Float64Array.from(values, (value, at) => value - steps[at % d]);
  const rows = new ClearRows(library, published, { about, count }, open);
  const [look] = published.rounds;
  const first = look === undefined ? null : await rows.look(look);
  const { detected, known, unused } = await library.filterRounds(published, rows, first);
  const { drawn, present } = await rows.sums([published.sum, ...unused]);
  const spread = grid.steps.map((step) => step * 2 ** grid.spreadBits);
  const centre = Float64Array.from(steps, (step, j) => library.valueOfStep(step, j, grid));
  const answer = library.answerOfLeft(
    published, { centre, spread, columns: library.knownColumns(spread) },
    { first, detected, known, drawn, present },
  );
  return library.withOutside(answer, outside, library.beyondGrid(design).reportedFrom);
}

/**
 * The centre in whole steps, null where a column has too few rows; and the noisy numbers of people
 * below and above the grid of each column.
 */
async function centreOf({ quantilesOfRunning }, { facts, grid }, { values, count }, open) {
  const { dimension: d, cohort } = facts;
  const columns = Array.from({ length: d }, (_, j) => j);
  const perColumn = (binOf) => Float64Array.from(columns.flatMap((j) =>
    Array.from(countsOf(count, (i) => binOf(values[i * d + j], j)))));
  const coarse =
    await open('centre/coarse', perColumn((value) => Math.floor(value / 2 ** (grid.bits - 6))), 1);
  const quarter = 2 ** (grid.spreadBits - 2);
  const starts = columns.map((j) => {
    const column = Array.from(coarse.subarray(j * bins, (j + 1) * bins));
    const half = column.reduce((sum, entry) => sum + entry, 0) / 2;
    const inside = column.slice(1, -1);
    const most = Math.max(...inside);
    const end = [0, bins - 1].find((bin) => column[bin] > Math.max(half, most));
    const fullest = end ?? 1 + inside.indexOf(most);
    return (fullest + 0.5) * 2 ** (grid.bits - 6) - 32 * quarter;
  });
  const fine = await open('centre/fine', perColumn((value, j) =>
    Math.floor((value - starts[j]) / quarter)), 1);
  const edges = Array.from({ length: bins + 1 }, (_, i) => i * quarter);
  const steps = columns.map((j) => {
    const below = [0];
    for (const entry of fine.subarray(j * bins, (j + 1) * bins)) below.push(below.at(-1) + entry);
    if (below.at(-1) < cohort / 4) return null;
    const [median] = quantilesOfRunning([...below, below.at(-1)], edges, [0.5]);
    return starts[j] + Math.round(median);
  });
  const outside = columns.flatMap((j) => [coarse[j * bins], coarse[(j + 1) * bins - 1]]);
  return { steps, outside };
}

/** Rows in one place, as filter rounds reach them. */
class ClearRows {
  constructor(library, design, { about, count }, open) {
    Object.assign(this, { library, design, about, count, open });
    this.d = design.facts.dimension;
    this.alive = Uint8Array.from({ length: count }, (_, i) => {
      let square = 0;
      for (let j = 0; j < this.d; j++) square += about[i * this.d + j] ** 2;
      return square <= design.ball.steps ** 2 ? 1 : 0;
    });
  }

  async look({ count, sum, square }) {
    const { d, about, design: { facts, ball } } = this;
    const sums = new Float64Array(d);
    const products = new Float64Array(d * d);
    for (let i = 0; i < this.count; i++) {
      if (this.alive[i] === 0) continue;
      for (let j = 0; j < d; j++) {
        const entry = about[i * d + j];
        sums[j] += entry;
        for (let k = j; k < d; k++) products[j * d + k] += entry * about[i * d + k];
      }
    }
    const upper = products.filter((_, at) => at % d >= Math.floor(at / d));
    const present = await this.open(count.name, Float64Array.of(this.left()), 1);
    const opened = await this.open(sum.name, sums, ball.grid);
    const squares = await this.open(square.name, upper, ball.grid ** 2);
    const moments = this.library.roundMoments(
      present[0], opened, squares, ball.radius, facts.cohort / 2,
    );
    return { moments, sums: opened };
  }

  byDistance(event, mean) {
    const { d, about, design: { ball }, library } = this;
    const from = Array.from(mean, (entry) => Math.round(entry / ball.grid));
    const least = library.chiSquareAt(4.4, d) / bins;
    let wide = 2 ** -20;
    while (wide < least) wide *= 2;
    const edges = Float64Array.from({ length: bins + 1 }, (_, bin) =>
      library.chiSquareDeviations(bin * wide, d));
    return this.projected(event, library.leastThresholdInDistance, edges, (i) => {
      let square = 0;
      for (let j = 0; j < d; j++) square += (about[i * d + j] - from[j]) ** 2;
      return Math.floor((square * ball.grid ** 2) / wide);
    });
  }

  async along(event, axis) {
    const { d, about, design: { ball }, library } = this;
    // 64 bins from -6 to 6 spreads, in 256 parts each.
    const factors = Array.from(axis, (entry) => Math.round((entry * 256) / 0.1875));
    const length = Math.hypot(...factors);
    const edges = Float64Array.from({ length: bins + 1 }, (_, bin) =>
      (bin * 0.1875 - 6) * (256 / 0.1875 / length));
    const found = await this.projected(event, library.leastThresholdAlongAxes, edges, (i) => {
      let sum = 0;
      for (let j = 0; j < d; j++) sum += factors[j] * about[i * d + j];
      return 32 + Math.floor((sum * ball.grid) / 256);
    });
    return { ...found, axis: Float64Array.from(factors, (factor) => factor / length) };
  }

  async sums(events) {
    const { d, about, design: { ball, count }, library } = this;
    const sums = new Float64Array(d);
    for (let i = 0; i < this.count; i++) {
      for (let j = 0; this.alive[i] !== 0 && j < d; j++) sums[j] += about[i * d + j];
    }
    const drawn = [];
    for (const event of events) {
      const placement = library.placementIn(event, ball, d);
      if (placement === null) continue;
      const isVector = event.kind === 'gaussian';
      const size = event.dimension;
      const placed = new Float64Array(isVector ? size : (size * (size + 1)) / 2);
      // Entry (j, j) of a matrix stands behind the entries of the rows before.
      sums.forEach((sum, j) => (placed[isVector ? j : j * size - (j * (j - 1)) / 2] = sum));
      const opened = await this.open(event.name, placed, placement.unit);
      drawn.push(library.sumsPlaced(event, opened, placement, ball, d));
    }
    const present = await this.open(count.name, Float64Array.of(this.left()), 1);
    return { drawn, present: present[0] };
  }

  left() {
    return this.alive.reduce((sum, one) => sum + one, 0);
  }

  async projected(event, leastThreshold, edges, binOf) {
    const of = Uint8Array.from({ length: this.count }, (_, i) => clampedBin(binOf(i)));
    const counts = new Float64Array(bins);
    of.forEach((bin, i) => (counts[bin] += this.alive[i]));
    const opened = await this.open(event.name, counts, 1);
    return {
      fit: this.library.fitHistogram(opened, event.sigma, leastThreshold, edges),
      removeOutside: (low, high) => {
        of.forEach((bin, i) => {
          if (!(edges[bin] >= low && edges[bin] < high)) this.alive[i] = 0;
        });
      },
    };
  }
}
