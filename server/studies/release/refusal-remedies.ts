import type { RefusalReason } from '../../../src/base/outcome.js';

/** The operator's remedy for a refused release, by the reason of the refusal. */
export const refusalRemedies: Readonly<Record<RefusalReason, string>> = {
  'interrupted':
    'Nothing: the process died between charge and release, and noise is never drawn twice.',
  'participation-below-plan': 'Too few people came: use longer epochs, or a smaller cohort.',
  'spread-not-found': 'Rows do not vary as a private finder of spreads and caps needs, or too '
    + 'few people came: give spread or cap as numbers, or lower the cohort.',
  'centre-not-found': 'Too few people came: use longer epochs, or a smaller cohort. '
    + 'Or spread is too small: raise it.',
  'subsamples-disagree': 'Too few people came: use longer epochs, or a smaller cohort. Or more of '
    + 'them are hostile than planned, or rows vary more than spread or a radius says: raise these.',
  'rows-too-wide': 'Rows are wider than spread says, or they are too few for the test of it: '
    + 'raise spread or the cohort.',
  'too-few-left': 'Honest rows are not normal, or more of them are hostile than stated: use '
    + 'covariance, or raise corruption.',
  'noise-too-large': 'Noise hides the answer: wait for more people, or ask for fewer columns.',
  'largest-unseen': 'Too few people have values of one size: wait for more, lower the cohort if '
    + 'far fewer came than planned for, or give a cap.',
  'numerical-failure': 'The answer is beyond the range of numbers: check the spreads.',
};
