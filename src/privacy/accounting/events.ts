/**
 * Mechanism events: immutable descriptions of every noise draw that a plan may make, known before
 * any data. Accounting reads them (privacy/cost), mechanisms obey them, the ledger stores them in
 * canonical bytes, so that what is charged is what is drawn and a tighter account can be
 * recomputed later.
 *
 * All numbers are doubles and therefore exact dyadic rationals; accounting is done on them exactly
 * and rounded up. Neighbours are those of the plan's guarantee; sensitivities already include the
 * effect of rounding to `grid` where the value is not a multiple of it by construction.
 */
interface EventBase {
  /** Unique in the plan. A mechanism call names its event. */
  readonly name: string;
  /** The cohort whose rows the value depends on. Events of disjoint cohorts compose in parallel. */
  readonly cohort: string;
}

/** P1, P12. value + discrete Gaussian of standard deviation sigma on grid * Z, per coordinate. */
export interface GaussianEvent extends EventBase {
  readonly kind: 'gaussian';
  readonly dimension: number;
  /** L2. */
  readonly sensitivity: number;
  readonly sigma: number;
  /** A power of two. */
  readonly grid: number;
}

/** Symmetric d x d matrix + GOE(d, sigma): diagonal sd sigma, off-diagonal sd sigma / sqrt 2. */
export interface SymmetricGaussianEvent extends EventBase {
  readonly kind: 'symmetric-gaussian';
  readonly dimension: number;
  /** Frobenius. */
  readonly sensitivity: number;
  readonly sigma: number;
  readonly grid: number;
}

/** P2. value + discrete Laplace of scale `scale` on grid * Z, per coordinate. */
export interface LaplaceEvent extends EventBase {
  readonly kind: 'laplace';
  readonly dimension: number;
  /** L1. */
  readonly sensitivity: number;
  readonly scale: number;
  readonly grid: number;
}

/** P3. value + truncated discrete Laplace. */
export interface TruncatedLaplaceEvent extends EventBase {
  readonly kind: 'truncated-laplace';
  readonly dimension: number;
  /** L1 over the whole vector. */
  readonly sensitivity: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly grid: number;
}

/**
 * P4: a pass lets later events rely on value >= floor. Truncated Laplace (a): a pass proves it. Gaussian (b): a
 * neighbour of a value below the floor passes with probability at most delta, which is charged.
 */
export interface LaplaceThresholdEvent extends EventBase {
  readonly kind: 'laplace-threshold';
  readonly sensitivity: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly floor: number;
  readonly grid: number;
}

/** A noisy value that is told only above a threshold, with Gaussian noise. */
export interface GaussianThresholdEvent extends EventBase {
  readonly kind: 'gaussian-threshold';
  readonly sensitivity: number;
  readonly sigma: number;
  readonly delta: number;
  readonly floor: number;
  readonly grid: number;
}

/** P5(b) over `coordinates` histograms at once, each contributor in at most one bin of each. */
export interface GaussianHistogramEvent extends EventBase {
  readonly kind: 'gaussian-histogram';
  readonly coordinates: number;
  readonly sigma: number;
  readonly delta: number;
  readonly grid: number;
}
/** P5(a), one histogram. */
export interface LaplaceHistogramEvent extends EventBase {
  readonly kind: 'laplace-histogram';
  readonly epsilon: number;
  readonly delta: number;
  readonly grid: number;
}

/** P6, P7: exponential mechanism with weights exp(epsilon * score / (2 sensitivity)), `times` independent calls. */
export interface ExponentialEvent extends EventBase {
  readonly kind: 'exponential';
  readonly candidates: number;
  readonly sensitivity: number;
  readonly epsilon: number;
  readonly times: number;
}

interface MaskBase extends EventBase {
  readonly dimension: number;
  /** l: neighbours' matrices are within factors e^-l and e^l of each other, in every direction. */
  readonly logDistance: number;
  /** Of the only Renyi divergence that the event is charged for; above 1. */
  readonly order: number;
}
/** A positive definite matrix told by the second moments of `samples` draws from its Gaussian. See privacy/masking. */
export interface WishartMaskEvent extends MaskBase {
  readonly kind: 'wishart-mask';
  readonly samples: number;
}
/** A positive definite matrix S told by S^1/2 (I + spread G)(I + spread G)^T S^1/2, G of normals. See privacy/masking. */
export interface AffineMaskEvent extends MaskBase {
  readonly kind: 'affine-mask';
  readonly spread: number;
}

/** One planned draw of noise. */
export type MechanismEvent =
  | GaussianEvent
  | SymmetricGaussianEvent
  | LaplaceEvent
  | TruncatedLaplaceEvent
  | LaplaceThresholdEvent
  | GaussianThresholdEvent
  | GaussianHistogramEvent
  | LaplaceHistogramEvent
  | ExponentialEvent
  | WishartMaskEvent
  | AffineMaskEvent;
