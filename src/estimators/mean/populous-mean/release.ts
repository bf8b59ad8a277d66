import { assert } from '../../../base/assert.js';
import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
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

/** Test, then average; a test that fails is a paid refusal. Claim and proof: populous/mean and stability. */
export function release(
  context: ReleaseContext,
  summaries: FinishedSummaries,
  mechanisms: Mechanisms,
): Released<Outcome> {
  const { design, scale, average } = context;
  const finished = summaries.get(cohortName);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  const measured = finished.map((groups) => {
    assert(groups.length === design.groups, 'a release gets every group');
    const points = gatherPoints(groups, scale.length);
    return { points, counts: agreementCounts(points, design.radius) };
  });
  const passed = mechanisms.threshold('agreement', measured.map(({ counts }) => agreeingPairs(counts)));
  if (!passed.value) return passed.map<Outcome>(() => disagreement(context));
  const noisy = mechanisms.gaussian(
    'average',
    measured.map(({ points, counts }) => weightedAverage(points, counts, design.thresholds, average.grid)),
  );
  return noisy.map((value): Outcome => {
    const estimate = Array.from(value, (entry, j) => entry * scale[j]!);
    if (!estimate.every((entry) => Number.isFinite(entry))) {
      const text = 'the noisy average times scale is beyond the range of doubles';
      return { kind: 'refused', reason: 'numerical-failure', text };
    }
    const half = deviations95 * Math.hypot(average.sigma, context.sampling);
    return {
      kind: 'value',
      estimate,
      shape: [scale.length],
      uncertainty: { kind: 'gaussian', standardDeviation: Array.from(scale, (unit) => unit * average.sigma) },
      // Covers the noise and the sampling of honest rows no wider than scale; not what hostile rows moved.
      interval95: {
        low: estimate.map((entry, j) => entry - half * scale[j]!),
        high: estimate.map((entry, j) => entry + half * scale[j]!),
      },
    };
  });
}

function disagreement({ design, designFacts }: ReleaseContext): Outcome {
  return {
    kind: 'refused',
    reason: 'groups-disagree',
    text: `fewer of the ${design.groups} groups agreed within ${design.radius.toPrecision(3)} scales than the noisy `
      + `test asks for. Planned for ${designFacts.cohort} contributors, at most a share of ${designFacts.corruption} `
      + 'of them hostile, and rows that vary by about one scale: check each, then raise scale or corruption, or lower cohort.',
  };
}
