import type { Citation } from './estimator.js';

/** Papers that several estimators cite. @param place - where in the paper, e.g. "Algorithm 1". */

/** Liu, Kong, Kakade and Oh (2021). */
export const lkko21 = (place: string): Citation => ({
  key: 'LKKO21',
  text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. '
    + 'NeurIPS 2021.',
  place,
});

/** Kothari, Manurangsi and Velingker (2022). */
export const kmv22 = (place: string): Citation => ({
  key: 'KMV22',
  text: 'P. Kothari, P. Manurangsi, A. Velingker. Private robust estimation by stabilizing convex '
    + 'relaxations. COLT 2022.',
  place,
});
