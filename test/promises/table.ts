import type { Row } from './cells.js';

/**
 * What every estimator promises. Limits may only be tightened: a commit that widens one does
 * nothing else, and says why. Most are the figures of the version that the table was made with, and
 * as much more as other noise would make of them.
 */
export const table: readonly Row[] = [
  ['mean found 20000x10 normal none', 0.019, 0.079, { quick: true }],
  ['mean found 20000x10 exponential none', 0.022, 0.15],
  ['mean found 20000x10 lognormal none', 0.041, 0.26],
  ['mean found 20000x10 student none', 0.023, 0.17],
  ['mean found 20000x10 likert none', 0.013, 0.064],
  ['mean found 20000x10 gamma-correlated none', 0.049, 0.32],
  ['mean found 20000x10 condition-1e4 none', 0.26, 0.11],
  ['mean found 20000x10 normal far', 1.9, null],
  ['mean given 20000x10 normal none', 0.014, 0.071],
  ['mean given 20000x10 exponential none', 0.022, 0.12],
  ['mean given 20000x10 lognormal none', 0.037, 0.21],
  ['mean given 20000x10 student none', 0.018, 0.14, { seeds: 9 }],
  ['mean given 20000x10 likert none', 0.013, 0.054, { seeds: 9 }],
  ['mean given 20000x10 gamma-correlated none', 0.044, 0.25],
  ['mean given 20000x10 condition-1e4 none', 0.14, 0.11],
  ['mean given 20000x10 normal far', 1.4, null],
  ['mean none 20000x4 likert none range=0..20', 0.027, 0.065],
  ['mean none 20000x4 exponential none range=0..20', 0.03, 0.066],

  ['robust-mean found 20000x10 normal none', 0.013, 0.097],
  ['robust-mean found 20000x10 exponential none', 0.02, 0.15, { quick: true }],
  ['robust-mean found 20000x10 lognormal none', 0.042, 0.33, { seeds: 25 }],
  ['robust-mean found 20000x10 student none', 0.02, 0.19],
  ['robust-mean found 20000x10 pareto none', 0.054, 0.31],
  ['robust-mean found 20000x10 bimodal none', 0.012, 0.091, { seeds: 9 }],
  ['robust-mean found 20000x10 zero-inflated none', 0.026, 0.19],
  ['robust-mean found 20000x10 likert none', 0.012, 0.078],
  ['robust-mean found 20000x10 gamma-correlated none', 0.024, 0.2],
  ['robust-mean found 20000x10 lognormal-correlated none', 0.079, 0.55],
  ['robust-mean found 20000x10 condition-1e4 none', 0.024, 0.077],
  ['robust-mean found 20000x10 normal far', 0.02, 78, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal ones', 0.04, 1, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal point', 0.014, 0.97, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal direction', 0.04, 0.97, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal two-clusters', 0.017, 0.97, { removed: 0.075, seeds: 9 }],
  ['robust-mean found 20000x10 normal dense', 0.21, 0.84, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal spray', 0.018, 1.4, { removed: 0.075, seeds: 9 }],
  ['robust-mean found 20000x10 normal tail-mimic', 0.23, 0.92, { removed: 0.075 }],
  ['robust-mean found 20000x10 normal subtle', 0.17, 0.84, { removed: 0.075 }],
  ['robust-mean found 20000x10 exponential far', 0.024, 76, { removed: 0.075 }],
  ['robust-mean found 20000x10 exponential point', 0.03, 1.1, { removed: 0.075 }],
  ['robust-mean found 20000x10 condition-1e4 far', 0.082, 79, { removed: 0.075, seeds: 9 }],
  ['robust-mean found 20000x10 condition-1e4 point', 0.06, 0.97, { removed: 0.075, seeds: 25 }],
  ['robust-mean found 20000x10 lognormal-correlated far', 0.1, 75, { removed: 0.075 }],
  ['robust-mean found 20000x10 lognormal-correlated point', 0.062, 0.99, { removed: 0.075 }],
  ['robust-mean found 20000x10 likert far', 0.011, 130, { removed: 0.075 }],
  ['robust-mean found 20000x10 likert point', 0.34, 0.77, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal none', 0.012, 0.063],
  ['robust-mean given 20000x10 exponential none', 0.018, 0.13],
  ['robust-mean given 20000x10 lognormal none', 0.038, 0.23],
  ['robust-mean given 20000x10 student none', 0.021, 0.16],
  ['robust-mean given 20000x10 pareto none', 0.044, 0.31],
  ['robust-mean given 20000x10 bimodal none', 0.013, 0.072],
  ['robust-mean given 20000x10 zero-inflated none', 0.017, 0.16],
  ['robust-mean given 20000x10 likert none', 0.014, 0.069],
  ['robust-mean given 20000x10 gamma-correlated none', 0.02, 0.15],
  ['robust-mean given 20000x10 lognormal-correlated none', 0.086, 0.51],
  ['robust-mean given 20000x10 condition-1e4 none', 0.017, 0.071],
  ['robust-mean given 20000x10 normal far', 0.013, 120, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal ones', 0.04, 0.7, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal point', 0.014, 0.8, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal direction', 0.04, 0.69, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal two-clusters', 0.011, 0.83, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal dense', 0.024, 0.86, { removed: 0.075, seeds: 9 }],
  ['robust-mean given 20000x10 normal spray', 0.015, 0.95, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal tail-mimic', 0.23, 0.68, { removed: 0.075 }],
  ['robust-mean given 20000x10 normal subtle', 0.18, 0.65, { removed: 0.075 }],
  ['robust-mean given 20000x10 exponential far', 0.021, 110, { removed: 0.075 }],
  ['robust-mean given 20000x10 exponential point', 0.027, 1.1, { removed: 0.075 }],
  ['robust-mean given 20000x10 condition-1e4 far', 0.054, 110, { removed: 0.075, seeds: 9 }],
  ['robust-mean given 20000x10 condition-1e4 point', 0.091, 0.93, { removed: 0.075 }],
  ['robust-mean given 20000x10 lognormal-correlated far', 0.11, 72, { removed: 0.075 }],
  ['robust-mean given 20000x10 lognormal-correlated point', 0.061, 1.4, { removed: 0.075 }],
  ['robust-mean given 20000x10 likert far', 0.013, 110, { removed: 0.075 }],
  ['robust-mean given 20000x10 likert point', 0.34, 0.66, { removed: 0.075 }],
  ['robust-mean found 20000x1 normal far', 0.0082, 230, { removed: 0.075, quick: true }],
  ['robust-mean given 1000x2 normal cluster corruption=.1 epsilon=2', 0.33, 1.8, {
    removed: 0.15, seeds: 9,
  }],
  ['robust-mean given 1000x2 exponential none corruption=.1 epsilon=2', 0.06, 0.8, { seeds: 9 }],
  ['robust-mean found 53940x7 stones none', 0.02, 0.075, { quick: true }],
  ['robust-mean found 53940x7 stones none corruption=.1', 0.02, 0.085, { seeds: 25 }],
  ['robust-mean found 20000x10 bimodal point', 0.016, 0.96, { removed: 0.075 }],
  ['robust-mean found 20000x10 bimodal far', 0.011, 78, { removed: 0.075 }],
  ['robust-mean found 20000x1 likert none', 0.0064, 0.057],

  ['prime found 100000x10 normal none', 0.006, 0.024],
  ['prime found 100000x10 normal direction', 0.035, 0.82, { removed: 0.075 }],
  ['prime found 100000x10 normal point', 0.02, 0.86, { removed: 0.075 }],
  ['prime found 100000x10 normal ones', 0.035, 0.85, { removed: 0.075 }],
  ['prime found 100000x10 normal two-clusters', 0.05, 0.85, { removed: 0.075 }],
  ['prime found 100000x10 normal far', 0.0049, 31, { removed: 0.075 }],
  ['prime found 20000x10 normal none', 0.022, 0.07, { quick: true }],
  ['prime found 20000x10 exponential none', 0.2, 0.26, { removed: 0.065, seeds: 9 }],
  ['prime found 20000x10 likert none', 0.028, 0.075],
  ['prime found 20000x10 student none', 0.036, 0.32, { removed: 0.01 }],
  ['prime found 20000x10 normal point', 0.05, 1.1, { removed: 0.075 }],
  ['prime found 20000x10 normal direction', 0.06, 1, { removed: 0.075 }],
  ['prime given 100000x10 normal none', 0.0041, 0.023],
  ['prime given 100000x10 normal direction', 0.035, 0.82, { removed: 0.075 }],
  ['prime given 100000x10 normal point', 0.005, 0.84, { removed: 0.075 }],
  ['prime given 100000x10 normal ones', 0.031, 0.84, { removed: 0.075 }],
  ['prime given 100000x10 normal two-clusters', 0.0042, 0.77, { removed: 0.075 }],
  ['prime given 100000x10 normal far', 0.0045, 30, { removed: 0.075, seeds: 9 }],
  ['prime given 20000x10 normal none', 0.025, 0.063],
  ['prime given 20000x10 exponential none', 0.03, 0.12, { seeds: 9 }],
  ['prime given 20000x10 likert none', 0.023, 0.062],
  ['prime given 20000x10 student none', 0.022, 0.21],
  ['prime given 20000x10 normal point', 0.05, 0.97, { removed: 0.075 }],
  ['prime given 20000x10 normal direction', 0.053, 1, { removed: 0.075 }],
  ['prime found 100000x10 normal direction epsilon=20', 0.035, 0.81, { removed: 0.075 }],

  ['prime found 20000x10 normal none directions=one', 0.022, 0.07],
  ['prime found 100000x10 normal point directions=one', 0.05, 0.85, { removed: 0.075 }],
  [
    'prime found 20000x10 exponential none directions=one', 0.24, 0.25,
    { removed: 0.02, seeds: 9, finite: 0.8 },
  ],
  ['prime given 20000x10 normal none directions=one', 0.026, 0.065],
  ['prime given 100000x10 normal point directions=one', 0.0059, 0.84, { removed: 0.075 }],
  ['prime given 20000x10 exponential none directions=one', 0.037, 0.16],

  ['prime-heavy given 20000x10 normal none', 0.027, 0.07],
  ['prime-heavy given 20000x10 exponential none', 0.027, 0.12, { seeds: 9 }],
  ['prime-heavy given 20000x10 student none', 0.036, 0.15],
  ['prime-heavy given 20000x10 pareto none', 0.054, 0.36],
  ['prime-heavy given 20000x10 gamma-correlated none', 0.051, 0.22],
  ['prime-heavy given 20000x10 student far', 0.029, 64, { removed: 0.075 }],
  ['prime-heavy given 20000x10 student point', 0.036, 1.6, { removed: 0.075 }],
  ['prime-heavy given 20000x10 student ones', 0.17, 1.7, { removed: 0.075 }],
  ['prime-heavy given 20000x10 pareto far', 0.061, 59, { removed: 0.075 }],

  ['stable-mean found 20000x10 normal none variant=reference', 0.48, 0.49],
  ['stable-mean found 20000x10 likert none variant=reference', 0.3, 0.3, { seeds: 9 }],
  ['stable-mean found 20000x10 normal far variant=reference', 0.41, 63],
  ['stable-mean given 20000x10 normal none variant=reference', 0.23, 0.25, { seeds: 9 }],
  ['stable-mean given 20000x10 likert none variant=reference', 0.2, 0.28, { seeds: 9 }],
  ['stable-mean given 20000x10 normal far variant=reference', 0.24, 65],
  ['stable-mean found 20000x10 exponential none variant=reference', 0.37, 0.45],

  ['stable-mean found 20000x10 normal none', 0.068, 0.18],
  ['stable-mean found 20000x10 likert none', 0.066, 0.14],
  ['stable-mean found 20000x10 normal far', 0.078, 65],
  ['stable-mean given 20000x10 normal none', 0.039, 0.11],
  ['stable-mean given 20000x10 likert none', 0.034, 0.11],
  ['stable-mean given 20000x10 normal far', 0.041, 55],
  ['stable-mean found 20000x10 exponential none', 0.057, 0.19],

  ['populous-mean found 20000x3 normal none', 0.089, 0.16],
  ['populous-mean found 20000x3 likert none', 0.21, 0.17],
  ['populous-mean found 20000x3 normal far', 0.079, null],
  ['populous-mean given 20000x3 normal none', 0.053, null],
  ['populous-mean given 20000x3 likert none', 0.2, null],
  ['populous-mean given 20000x3 normal far', 0.066, null],
  ['populous-mean found 20000x3 exponential none', 0.41, 0.29],

  ['resilience found 20000x2 normal none', 0.012, 0.12],
  ['resilience found 20000x2 likert none', 0.34, 0.2],
  ['resilience found 20000x2 normal far', 0.21, null],
  ['resilience given 20000x2 normal none', 0.0063, 0.097],
  ['resilience given 20000x2 likert none', 0.33, 0.22],
  ['resilience given 20000x2 normal far', 0.21, null],
  ['resilience found 20000x2 exponential none', 0.45, 0.32],

  ['tukey-median found 20000x2 normal none', 0.0082, null],
  ['tukey-median found 20000x2 normal far', 0.26, null],
  ['tukey-median given 20000x2 normal none', 0.0065, null],
  ['tukey-median given 20000x2 normal far', 0.18, null],

  ['heavy-tailed given 20000x10 normal none', 0.089, 0.28],

  ['heavy-tailed given 20000x1 normal none variant=groups', 0.013, 0.15],

  ['heavy-tailed given 20000x1 normal none variant=candidates', 0.012, 0.2],

  ['heavy-tailed given 20000x10 student none', 0.092, 0.28, { seeds: 9 }],

  ['heavy-tailed given 20000x1 student none variant=groups', 0.03, 0.15],

  ['heavy-tailed given 20000x1 student none variant=candidates', 0.037, 0.2],

  ['heavy-tailed given 20000x10 pareto none', 0.082, 0.28],

  ['heavy-tailed given 20000x1 pareto none variant=groups', 0.035, 0.15],

  ['heavy-tailed given 20000x1 pareto none variant=candidates', 0.073, 0.2],

  ['heavy-tailed given 20000x10 lognormal none', 0.087, 0.28],

  ['heavy-tailed given 20000x1 lognormal none variant=groups', 0.042, 0.15],

  ['heavy-tailed given 20000x1 lognormal none variant=candidates', 0.037, 0.2],

  ['heavy-tailed given 20000x1 likert none radius=1 variant=groups', 0.05, 0.15, { finite: 0 }],

  ['heavy-tailed given 20000x1 likert none radius=1 variant=candidates', 0.1, 0.2, { finite: 0 }],

  ['heavy-tailed given 20000x4 pareto none spread=.1', 0.095, 0.018, { finite: 0 }],

  ['covariance found 20000x5 normal none', 0.03, 0.14],
  ['covariance found 20000x5 exponential none', 0.07, 0.87, { finite: 0.27 }],
  ['covariance found 20000x5 lognormal none', 0.21, null, { finite: 0 }],
  ['covariance found 20000x5 student none', 0.19, null, { finite: 0 }],
  ['covariance found 20000x5 likert none', 0.027, 0.12],
  ['covariance found 20000x5 gamma-correlated none', 0.074, 1.1, { finite: 0 }],
  ['covariance found 20000x5 condition-1e4 none', 0.037, 0.13],
  ['covariance given 20000x5 normal none', 0.034, 0.13],
  ['covariance given 20000x5 exponential none', 0.055, 0.64],
  ['covariance given 20000x5 lognormal none', 0.27, null, { finite: 0 }],
  ['covariance given 20000x5 student none', 0.18, 0.92, { finite: 0 }],
  ['covariance given 20000x5 likert none', 0.026, 0.12],
  ['covariance given 20000x5 gamma-correlated none', 0.081, 1.1, { finite: 0.27 }],
  ['covariance given 20000x5 condition-1e4 none', 0.029, 0.13],
  ['subsample-covariance none 20000x5 normal none', 0.085, 0.17],
  ['subsample-covariance none 20000x5 condition-1e4 none', 0.08, 0.23],

  ['stable-covariance found 20000x5 normal none', 0.065, 0.097, { seeds: 9, finite: 0.7 }],

  ['auto found 20000x5 normal none', 0.035, 0.14],

  [
    'stable-covariance found 20000x5 exponential none', 0.15, 1.1,
    { answered: 0, finite: 0 },
  ],

  ['auto found 20000x5 exponential none', 0.085, 0.9, { finite: 0.3 }],

  [
    'stable-covariance found 20000x5 lognormal none', 0.15, 1.1,
    { answered: 0, finite: 0 },
  ],

  ['auto found 20000x5 lognormal none', 0.25, 0.9, { finite: 0 }],

  [
    'stable-covariance found 20000x5 student none', 0.15, 1.1,
    { answered: 0, finite: 0, missed: ['error', 'removed'], seeds: 9 },
  ],

  ['auto found 20000x5 student none', 0.22, 0.9, { finite: 0 }],

  [
    'stable-covariance found 20000x5 likert none', 0.15, 1.1,
    { answered: 0, finite: 0 },
  ],

  ['auto found 20000x5 likert none', 0.035, 0.2, { }],

  [
    'stable-covariance found 20000x5 gamma-correlated none', 0.15, 1.1,
    { answered: 0, finite: 0 },
  ],

  ['auto found 20000x5 gamma-correlated none', 0.1, 1.1, { finite: 0 }],

  ['stable-covariance given 20000x5 normal none', 0.046, 0.086],
  ['stable-covariance found 20000x5 normal point', 0.074, null, { removed: 0.075 }],
  ['stable-covariance found 20000x5 normal direction', 0.09, null, { removed: 0.075, seeds: 9 }],
  ['stable-covariance found 20000x5 normal far', 0.066, null, { removed: 0.075 }],

  ['gaussian found 20000x3 normal none', 0.036, 0.12],
  ['gaussian given 20000x3 normal none', 0.035, 0.11],
  ['gaussian found 20000x3 condition-1e4 none', 0.037, 0.12],
  ['gaussian none 100000x1 normal none local=robust', 0.024, 0.03],

  ['stable-moments found 200000x2 normal none', 0.064, null],
  ['stable-moments given 200000x2 normal none', 0.068, null],
  ['stable-moments found 200000x2 exponential none', 0.5, null, { answered: 0, missed: ['error'] }],

  ['mixture-1d none 30000x1 bimodal none', 0.028, null, { seeds: 1 }],

  ['mixture none 200000x2 normal none components=1', 0.0018, null, { seeds: 1 }],

  ['select none 20000x1 normal none', 0, null],
  ['select none 20000x1 normal point', 0, null],

  ['subspace none 20000x2 line none', 0, null],

  ['count none 20000x1 normal none', 0.0001, 0.00039, { seeds: 8, quick: true }],

  ['share none 20000x1 normal none', 0.00012, 0.00041, { seeds: 8, quick: true }],

  ['histogram none 20000x1 normal none', 0.0005, 0.00077, { seeds: 8, quick: true }],

  ['median none 20000x2 normal none', 0.004, 0.06, { seeds: 8, quick: true }],

  ['quantile none 20000x1 normal none', 0.0039, 0.07, { seeds: 8, quick: true }],

  ['distribution none 20000x1 normal none', 0.031, 0.0087, { seeds: 3, quick: true }],

  ['count none 20000x1 exponential none', 0.0001, 0.00039, { seeds: 8 }],

  ['share none 20000x1 exponential none', 0.00012, 0.00039, { seeds: 8 }],

  ['histogram none 20000x1 exponential none', 0.0005, 0.00077, { seeds: 8 }],

  ['quantile none 20000x1 exponential none', 0.002, 0.055, { seeds: 8 }],

  ['distribution none 20000x1 exponential none', 0.021, 0.0087, { seeds: 3 }],

  ['count none 20000x1 likert none', 0.0001, 0.00039, { seeds: 8 }],

  ['share none 20000x1 likert none', 0.00013, 0.00054, { seeds: 8 }],

  ['histogram none 20000x1 likert none', 0.0005, 0.00077, { seeds: 8 }],

  ['quantile none 20000x1 likert none', 0.0001, 1e-9, { seeds: 8 }],

  ['distribution none 20000x1 likert none', 0.33, 0.0087, { seeds: 3 }],

  ['sum none 20000x2 exponential none', 0.013, 0.033, { seeds: 8 }],

  ['ratio none 20000x2 exponential none', 0.005, 0.023, { seeds: 8 }],

  ['sum none 20000x2 likert none', 0.012, 0.033, { seeds: 8 }],

  ['ratio none 20000x2 likert none', 0.0018, 0.007, { seeds: 8 }],

  ['sum none 20000x2 pareto none', 0.0065, 0.033, { seeds: 8 }],

  [
    'sum none 20000x1 exponential none cap=auto cap-max=1000', 0.0015, 0.009,
    { seeds: 24, quick: true },
  ],

  ['sum none 20000x1 lognormal none cap=auto cap-max=1000', 0.0012, 0.03, { seeds: 8 }],
];
