import { mean } from '../mean/mean.js';
import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { parseParameters } from '../../contract/parameters.js';

/** The numbers by which a plan is compared, in units of spread. */
export interface Compared {
  readonly spread: Float64Array;
  /** Corruption that is planned for. */
  readonly corruption: number;
  /** Radius of the ball that rows are clipped to. */
  readonly radius: number;
  /** Expected error without hostile rows. */
  readonly error: number;
}

/** A plan warns when hostile rows may add this many times the error expected without them. */
const loudTimes = 2;

/**
 * Public comparisons that help to choose. The plan of `mean` leaves out the bias that its clipping
 * has for heavy tails, which no public number says. How large that bias must be before `mean` is
 * the worse of the two is public: the root of the difference of the two squared errors.
 */
export function comparison(
  facts: StudyFacts, { spread, corruption, radius, error }: Compared,
): Plan['facts'] {
  const rival = mean.plan(
    parseParameters(mean.parameters, { spread: Array.from(spread) }, facts), facts,
  );
  const moved = corruption * radius;
  return {
    ...(rival.kind === 'infeasible' ? {} : {
      beatsMeanWhereItsClippingCostsInSpreads: Math.sqrt(
        Math.max(0, error ** 2 - rival.expectedError(0).total ** 2),
      ),
    }),
    ...(moved <= loudTimes * error ? {} : {
      warning: `a share of ${corruption} of hostile rows far away may move the answer by `
        + `${moved.toPrecision(3)} `
        + `spreads, where ${error.toPrecision(3)} is expected without them: give a smaller `
        + 'clip-radius, or use an '
        + 'estimator that promises more, such as prime',
    }),
  };
}
