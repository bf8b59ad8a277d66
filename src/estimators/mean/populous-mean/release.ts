import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { agreeingPairs, agreementCounts, weightedAverage } from './agreement.js';
import type { Design, DesignFacts } from './design.js';
import { cohortName } from './events.js';
import { gatherPoints } from './local.js';

/** Public constants that a release needs. */
export interface ReleaseContext {
  readonly design: Design;
  readonly designFacts: DesignFacts;
  readonly scale: Float64Array;
  readonly average: GaussianEvent;
  /** Standard deviation of sampling per coordinate, in units of scale. */
  readonly sampling: number;
}

/**
 * Test, then average. A test that fails is a paid refusal. Claim and proof: populous-mean,
 * stability.
 */
export function release(
  context: ReleaseContext,
  summaries: FinishedSummaries,
  mechanisms: Mechanisms,
): Released<Outcome> {
  const { design, scale, average } = context;
  const finished = finishedOf(summaries, cohortName, design.groups);
  const measured = finished.map((groups) => {
    const points = gatherPoints(groups, scale.length);
    return { points, counts: agreementCounts(points, design.radius) };
  });
  const passed = mechanisms.threshold('agreement', measured.map(({ counts }) =>
    agreeingPairs(counts)));
  if (!passed.value) return passed.map<Outcome>(() => disagreement(context));
  const noisy = mechanisms.gaussian(
    'average',
    measured.map(
      ({ points, counts }) => weightedAverage(points, counts, design.thresholds, average.grid),
    ),
  );
  return noisy.map((value): Outcome => {
    const estimate = Array.from(value, (entry, j) => entry * scale[j]!);
    const half = deviations95 * Math.hypot(average.sigma, context.sampling);
    const standardDeviation = Array.from(scale, (unit) => unit * average.sigma);
    return finiteValue({
      estimate,
      shape: [scale.length],
      uncertainty: { kind: 'gaussian', standardDeviation },
      // Covers the noise and the sampling of honest rows no wider than scale; not what hostile rows
      // moved.
      interval95: intervalAbout(estimate, (j) => half * scale[j]!),
    }, 'the noisy average times scale is');
  });
}

function disagreement({ design, designFacts }: ReleaseContext): Outcome {
  return {
    kind: 'refused',
    reason: 'groups-disagree',
    text: `fewer of the ${design.groups} groups agreed within ${design.radius.toPrecision(3)} `
      + 'scales than the noisy '
      + `test asks for. Planned for ${designFacts.cohort} contributors, at most a share of `
      + `${designFacts.corruption} `
      + 'of them hostile, and rows that vary by about one scale: check each, then raise scale or '
      + 'corruption, or lower cohort.',
  };
}
