// Mistakes that `scripts/mutations.js` puts into a copy of the sources, one at a time, in ten
// estimators. `find` stands once in the file.
const counts = 'src/estimators/counts';
const mean = 'src/estimators/mean';
const stages = 'src/privacy/stages';
const covariance = 'src/estimators/covariance';
const pooled = 'src/estimators/pooled';
const contests = 'src/estimators/distributions/candidates/contests.ts';

const mutation = (estimator, breaks, file, find, put) => ({ estimator, breaks, file, find, put });

/** Test files of each estimator, without golden vectors and the tests for all estimators. */
export const testsOf = {
  count: ['counts/counts', 'counts/by-key', 'counts/pure'],
  sum: [
    'counts/sum', 'counts/found-cap', 'counts/cap-reading', 'counts/by-key', 'counts/pure',
  ],
  ratio: ['counts/quotients', 'counts/discovered-sums', 'counts/by-key'],
  histogram: ['counts/counts', 'counts/by-key', 'counts/pure'],
  quantile: ['counts/counts', 'counts/quantile', 'counts/pure'],
  mean: ['mean/mean', 'mean/mean-range', 'helpers'],
  'robust-mean': ['mean/robust-mean'],
  'stable-mean': ['mean/stable-mean'],
  covariance: ['covariance/covariance'],
  select: ['distributions/select'],
};

export const mutations = [
  mutation('count', 'a sensitivity 2 % too small', `${counts}/tables/count-noise.ts`,
    'sensitivity: l2, rho, grid', 'sensitivity: 0.98 * l2, rho, grid'),
  mutation('count', 'keys that a contributor leaves are not counted as moved',
    `${counts}/tables/key-places.ts`,
    'Math.min(2 * (groupsMax - j), count - j)', 'Math.min(groupsMax - j, count - j)'),
  mutation('count', 'a value at the threshold is on the wrong side', `${counts}/tables/common.ts`,
    'value < threshold === isBelow', 'value <= threshold === isBelow'),

  mutation('sum', 'steps are not held to the bounds after rounding', `${counts}/sum/bounds.ts`,
    'return Math.min(lowest + stepsPerUnit, Math.max(lowest, steps)) + 0;', 'return steps + 0;'),
  mutation('sum', 'the unit of a range forgets who is absent', `${counts}/sum/bounds.ts`,
    'const unit = Math.max(high, 0) - Math.min(low, 0);', 'const unit = high - low;'),
  mutation('sum', 'the cells of a found cap are charged for one column',
    `${counts}/sum/found-cap.ts`,
    "name: 'cells', counts: dimension * ladderCells, l1: 2 * dimension,\n"
    + '    l2: rootAbove(2 * dimension)',
    "name: 'cells', counts: dimension * ladderCells, l1: 2,\n    l2: rootAbove(2)"),
  mutation('sum', 'people beside a group are forgotten', `${counts}/sum/cap-reading.ts`,
    'const besideMost = 2;', 'const besideMost = 0;'),
  mutation('sum', 'upper points of Laplace noise are those of a normal',
    `${counts}/sum/cell-noise.ts`,
    "event.kind === 'gaussian' ?", "event.kind !== 'none' ?"),
  mutation('sum', 'a possible group decides the cap', `${pooled}/far-side.ts`,
    'forRadius: widths + unseen.forRadius,',
    'forRadius: widths + unseen.forRadius + this.ofWindows(radius),'),
  mutation('sum', 'a scan of the tail starts again past a gap', `${pooled}/far-side.ts`,
    'else if (quarters[cell]! >= quarters[last + 1]! + 4) break;', ''),

  mutation('ratio', 'a row is added twice', `${counts}/tables/whole-sums.ts`,
    'addWhole(row, state.sums);\n      state.rows += 1;',
    'addWhole(row, state.sums); addWhole(row, state.sums);\n      state.rows += 1;'),
  mutation('ratio', 'the wrong sign of the correlation', `${counts}/quotients/fieller.ts`,
    'c * (c - 2 * estimate)', 'c * (c + 2 * estimate)'),
  mutation('ratio', 'caps are divided the wrong way round', `${counts}/ratio/ratio.ts`,
    'const unit = first! / second!;', 'const unit = second! / first!;'),

  mutation('histogram', 'the sensitivity forgets the bin that a row leaves',
    `${counts}/histogram/public-bins.ts`,
    'l1: 2, l2: Math.SQRT2, binOf', 'l1: 1, l2: 1, binOf'),
  mutation('histogram', 'a value at an edge is in the bin below', `${counts}/histogram/public-bins.ts`,
    'if (edges[between]! <= value)', 'if (edges[between]! < value)'),
  mutation('histogram', 'a bin without bounds is shown from a lower count',
    'src/privacy/mechanisms/bounds.ts',
    'normalUpperQuantile(event.delta / event.coordinates)',
    'normalUpperQuantile(2 * event.delta / event.coordinates)'),

  mutation('quantile', 'scores of half the sensitivity', `${counts}/quantile/design.ts`,
    'sensitivity: rankUnit,', 'sensitivity: rankUnit / 2,'),
  mutation('quantile', 'the rank from above is that from below', `${counts}/tables/rank-scores.ts`,
    'rankUnit * higher - mostHigher', 'rankUnit * higher - mostLower'),
  mutation('quantile', 'half of the ladder is missing', `${counts}/quantile/candidates.ts`,
    'places: 2 * ladderTop + 1,', 'places: ladderTop + 1,'),
  mutation('quantile', 'the counts forget the cell that a row leaves',
    `${counts}/quantile/design.ts`,
    'l1: 2 * length, l2: rootAbove(2 * length)', 'l1: length, l2: rootAbove(length)'),
  mutation('quantile', 'both ends are chosen by one uniform number',
    'src/privacy/mechanisms/supply.ts', 'this.#waiting[this.#used] = 0;\n    this.#used += 1;', ''),
  mutation('quantile', 'a value at an edge is below it', `${counts}/quantile/edges.ts`,
    '(value) => value < edge', '(value) => value <= edge'),

  mutation('mean', 'a sensitivity 2 % too small', `${stages}/clipped-mean.ts`,
    'sensitivity: 2 * ball.radius,', 'sensitivity: 1.96 * ball.radius,'),
  mutation('mean', 'clipped rows are rounded up to the grid', `${stages}/clip.ts`,
    'steps[j] = Math.trunc(steps[j]! * factor) + 0;',
    'steps[j] = Math.round(steps[j]! * factor) + 0;'),
  mutation('mean', 'scores of the median are not halved', `${stages}/centre.ts`,
    'Math.max(0, 2 * left - present, 2 * right - present) / 2;',
    'Math.max(0, 2 * left - present, 2 * right - present);'),

  mutation('robust-mean', 'second moments have the sensitivity of one row alone',
    `${pooled}/query-events.ts`,
    'const sensitivity = sqrt2 * ball.radius ** 2', 'const sensitivity = ball.radius ** 2'),
  mutation('robust-mean', 'unused events carry sums of twice their sensitivity',
    `${mean}/robust-mean/reallocation.ts`,
    'Math.floor(sensitivity / (2 * steps * grid))', 'Math.floor(sensitivity / (steps * grid))'),
  mutation('robust-mean', 'removed rows stay in the sums', `${pooled}/thresholds.ts`,
    'if (gone !== null) gone[i] = 1;', ''),

  mutation('stable-mean', 'the sensitivity forgets the error of the solver',
    `${mean}/stable-mean/reference-design.ts`,
    '1.5 * (Math.SQRT1_2 + 2 * error)', '1.5 * Math.SQRT1_2'),
  mutation('stable-mean', 'more people than planned make the bound larger than is charged',
    `${mean}/stable-mean/reference-design.ts`,
    'Math.min(facts.cohort, Math.max(present, leastShare * facts.cohort))',
    'Math.max(present, leastShare * facts.cohort)'),
  mutation('stable-mean', 'weights to the power 1 instead of 3/2',
    `${mean}/stable-mean/reference.ts`,
    'projected[i]! * Math.sqrt(projected[i]!)', 'projected[i]!'),

  mutation('covariance', 'a sensitivity 1 % too small', `${covariance}/moments/second-moments.ts`,
    'const sensitivity = Math.SQRT2 *', 'const sensitivity = 1.4 *'),
  mutation('covariance', 'a row is in two pairs', `${covariance}/moments/pairs.ts`,
    'if (members !== 2) continue;', 'if (members < 2) continue;'),
  mutation('covariance', 'pairs are not divided by the root of 2', `${covariance}/moments/pairs.ts`,
    'values[row * dimension + j]!) / Math.SQRT2;', 'values[row * dimension + j]!);'),

  mutation('select', 'the share that is subtracted is not rounded', contests,
    'Math.ceil((otherMass + (1 + zeta / 2) * alpha) * thetaSteps) / thetaSteps',
    'otherMass + (1 + zeta / 2) * alpha'),
  mutation('select', 'rows of the second hypothesis count for it twice', contests,
    'this.lower(j, 1 - first, this.rows - inside);',
    'this.lower(j, 1 - first, 2 * (this.rows - inside));'),
  mutation('select', 'scores have half the sensitivity',
    'src/estimators/distributions/select/select.ts',
    'candidates: list.length, sensitivity: 1,', 'candidates: list.length, sensitivity: 0.5,'),
];
