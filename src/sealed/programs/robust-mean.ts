import type { Released } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import { withOutside } from '../../estimators/contract/outside.js';
import { participationBelowPlan } from '../../estimators/contract/outcomes.js';
import { answerOfLeft, filterRounds } from '../../estimators/mean/robust-mean/filter-rounds.js';
import { knownColumns } from '../../estimators/pooled/found-columns.js';
import { sealedCost } from '../../privacy/accounting/sealed-cost.js';
import { stepsOrNone } from '../shares/share-plan.js';
import { insideBall } from './ball.js';
import { beyondGrid, releaseCentre, spreadsOf } from './centre.js';
import type { ProgramRun, SealedProgram } from './contract.js';
import {
  sealedRobustDesign, type SealedRobustDesign, type SealedRobustMeanOptions,
} from './robust-design.js';
import { SealedRows } from './robust-rows.js';
import { layoutOf } from './rows.js';
import { robustMeanTraffic } from './traffic.js';

/**
 * The robust private mean of rows that no server sees: `robust-mean` with `shape: light`, for a
 * public range and spread.
 *
 * A centre, the rows within a ball about it, and looks at their moments. Where these are wider than
 * honest rows can be, noisy histograms of the distance and along the widest axes tell which tails
 * no normal shape explains. Those are removed, and the mean of the rows left is corrected. What
 * rounds do, and the answer, are the clear estimator's (mean/robust-mean/filter-rounds). It
 * differs in five ways. What is opened has 1.22 times the noise. Rows beyond the ball are left out,
 * not pulled in. The ball is smaller, since noise of second moments grows with the square of its
 * radius. Distances are in bins of equal squares. Columns that are correlated are not mapped.
 *
 * Claim. Cost and neighbours as in `SealedProgram`.
 * Cost. That of the events: two histograms of the centre, and of each round the number, the sum and
 * the second moments of the rows left and the histograms; then a sum and a number. Composed
 * adaptively.
 * Why. A contributor is one row of whole steps inside the public range, whatever it sends.
 * - The centre is that of `centre`. The rows z about it with |z|^2 <= R^2, compared in whole
 *   numbers, are left. So the rows left of neighbours differ in one row, and each has length R at
 *   most.
 * - The sensitivities are those of pooled/query-events: 1 for a number, 2 R for a sum, sqrt 2 R^2
 *   for second moments in Frobenius norm, sqrt 2 for a histogram with one bin for each row. All are
 *   whole multiples of their events' grids, and none leaves 2^60 steps (`checkRoom`).
 * - Whether a row is left after a removal is a function of its bin and of released numbers.
 * - Events that rounds did not need are opened on the sums of the rows left, within their
 *   sensitivities (mean/robust-mean/reallocation).
 * - Which event is opened next, and every threshold, axis and mean, follow from opened numbers.
 * Assumption. As for `shape: light`: honest rows are at most one spread wide in every direction,
 * and not strongly skewed.
 * @throws InvalidParameterError for options, a grid or a budget that do not fit.
 * @example
 * const grid = columnGrid([[0, 512], [0, 256]], [15, 8]);
 * sealedRobustMean(facts, { grid, corruption: 0.05 }).form; // { kind: 'numbers', count: 2, ... }
 */
export function sealedRobustMean(
  facts: StudyFacts, options: SealedRobustMeanOptions,
): SealedProgram {
  const design = sealedRobustDesign(facts, options);
  const { events, grid, form } = design;
  return {
    form, events, cost: sealedCost(events, { disjoint: [] }),
    outside: beyondGrid(design),
    valuesOf: (row) => stepsOrNone(row, grid, form),
    traffic: (people) => robustMeanTraffic(people, design),
    run: (run) => runRobustMean(design, run),
  };
}

async function runRobustMean(
  design: SealedRobustDesign, run: ProgramRun,
): Promise<Released<Outcome>> {
  const { facts, grid, published } = design;
  const layout = layoutOf(run.rows.length);
  const { about, present: withRow, centre, outside } = await releaseCentre(run, design, layout);
  if (about === null) return centre.map(() => participationBelowPlan(facts));
  const inside = await insideBall(
    run.party, { about, present: withRow }, published.ball, design, layout,
  );
  const rows = new SealedRows(run, published, { ...inside, about, layout });
  const [look] = published.rounds;
  const first = look === undefined ? null : await rows.look(look);
  const { detected, known, unused } = await filterRounds(published, rows, first);
  const { drawn, present } = await rows.sums([published.sum, ...unused]);
  const spread = spreadsOf(grid);
  return centre.map((from): Outcome => {
    const answer = answerOfLeft(
      published, { centre: from, spread, columns: knownColumns(spread) },
      { first, detected, known, drawn, present },
    );
    return withOutside(answer, outside.value, beyondGrid(design).reportedFrom);
  });
}
