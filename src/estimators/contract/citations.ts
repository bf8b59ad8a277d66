import type { Citation } from './estimator.js';

/** The papers that estimators are made from, by the key that pages and comments use. */
const papers = {
  AL22: 'H. Ashtiani, C. Liaw. Private and polynomial time algorithms for learning Gaussians and '
    + 'beyond. COLT 2022.',
  AMN24: 'H. Ashtiani, M. Majid, S. Narayanan. Sample-efficient private learning of mixtures of '
    + 'Gaussians. NeurIPS 2024.',
  BKSW19: 'M. Bun, G. Kamath, T. Steinke, Z. S. Wu. Private hypothesis selection. NeurIPS 2019.',
  CKS20: 'C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. '
    + 'NeurIPS 2020.',
  FHU23: 'H. Fichtenberger, M. Henzinger, J. Upadhyay. Constant matters: fine-grained error bound '
    + 'on differentially private continual observation. ICML 2023.',
  KLSU19: 'G. Kamath, J. Li, V. Singhal, J. Ullman. Privately learning high-dimensional '
    + 'distributions. COLT 2019.',
  KMV22: 'P. Kothari, P. Manurangsi, A. Velingker. Private robust estimation by stabilizing '
    + 'convex relaxations. COLT 2022.',
  KSU20: 'G. Kamath, V. Singhal, J. Ullman. Private mean estimation of heavy-tailed distributions. '
    + 'COLT 2020.',
  KV18: 'V. Karwa, S. Vadhan. Finite sample differentially private confidence intervals. ITCS '
    + '2018.',
  LKKO21: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. '
    + 'NeurIPS 2021.',
  Smi11: 'A. Smith. Privacy-preserving statistical estimation with optimal convergence rates. '
    + 'STOC 2011.',
} as const;

/** A paper, and the place in it: "Algorithm 1". */
export function cite(key: keyof typeof papers, place: string): Citation {
  return { key, text: papers[key], place };
}
