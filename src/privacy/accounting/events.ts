/**
 * Mechanism events: immutable descriptions of every noise draw that a plan may make, known before
 * any data. Accounting reads them (accounting/composition), mechanisms draw what they say, and the
 * ledger stores them in canonical bytes. So what is charged is what is drawn, and a tighter cost
 * can be computed later.
 *
 * All numbers are doubles, so they are exact dyadic rationals. Accounting computes with them
 * exactly and rounds up. Neighbours are those of the plan's guarantee. A sensitivity includes the
 * effect of rounding to `grid`, unless the value is a multiple of it by construction.
 */
interface EventBase {
  /** Unique in the plan. A mechanism call names its event. */
  readonly name: string;
  /** The arm whose rows the value depends on. The costs of disjoint arms do not add up. */
  readonly cohort: string;
  /** Present if the event may be drawn once for each key of a public list. */
  readonly keyed?: KeyedDraws;
  /**
   * In (0, 1]: a row that only comes or goes, and does not replace another, uses at most this share
   * of the sensitivity. Absent: 1. Keyed events are charged less for it, others are not.
   */
  readonly presence?: number;
}

/**
 * A row belongs to one key, and an event of a key sees the rows of this key alone. The name of the
 * event is `menu@choice/name`: of a menu, the events of one choice may be drawn for a key, and no
 * others. A call for key 3 names the event `menu@choice/name#3`.
 */
export interface KeyedDraws {
  /** Keys of the list. */
  readonly keys: number;
  /** The most keys of which a contributor has rows. */
  readonly groupsMax: number;
}

/**
 * Discrete Gaussian noise: value + noise of standard deviation sigma on grid * Z, per coordinate.
 */
export interface GaussianEvent extends EventBase {
  readonly kind: 'gaussian';
  readonly dimension: number;
  /** L2. */
  readonly sensitivity: number;
  readonly sigma: number;
  /** A power of two. */
  readonly grid: number;
}

/**
 * A symmetric d x d matrix + symmetric discrete Gaussian noise: standard deviation sigma on the
 * diagonal, sigma / sqrt 2 elsewhere.
 */
export interface SymmetricGaussianEvent extends EventBase {
  readonly kind: 'symmetric-gaussian';
  readonly dimension: number;
  /** Frobenius. */
  readonly sensitivity: number;
  readonly sigma: number;
  readonly grid: number;
}

/** Discrete Laplace noise: value + noise of scale `scale` on grid * Z, per coordinate. */
export interface LaplaceEvent extends EventBase {
  readonly kind: 'laplace';
  readonly dimension: number;
  /** L1. */
  readonly sensitivity: number;
  readonly scale: number;
  readonly grid: number;
}

/**
 * Propose-test-release with Gaussian noise. If a neighbour is below the floor, a pass has
 * probability at most delta, which is charged.
 */
export interface GaussianThresholdEvent extends EventBase {
  readonly kind: 'gaussian-threshold';
  readonly sensitivity: number;
  readonly sigma: number;
  readonly delta: number;
  readonly floor: number;
  readonly grid: number;
}

/**
 * Stable histograms with Gaussian noise, `coordinates` of them at once. Each contributor is in at
 * most one bin of each.
 */
export interface GaussianHistogramEvent extends EventBase {
  readonly kind: 'gaussian-histogram';
  readonly coordinates: number;
  readonly sigma: number;
  readonly delta: number;
  readonly grid: number;
}

/**
 * Noisy counts of contributors under keys that nobody listed. Each contributor is under at most
 * `groupsMax` keys.
 */
export interface GroupHistogramEvent extends EventBase {
  readonly kind: 'group-histogram';
  readonly groupsMax: number;
  /** A key with fewer contributors gets no noise and is not shown. */
  readonly prefilter: number;
  readonly sigma: number;
  readonly delta: number;
  readonly grid: number;
}

/**
 * Noisy weights of keys that nobody listed, for releases that show the keys alone. A contributor
 * with k keys, at most `groupsMax`, adds at most 1 / sqrt(k) to the weight of each, in steps of
 * `grid`. A key without weight gets no noise and is not shown.
 */
export interface GroupWeightsEvent extends EventBase {
  readonly kind: 'group-weights';
  readonly groupsMax: number;
  readonly sigma: number;
  readonly delta: number;
  readonly grid: number;
}

/**
 * A group-histogram that has sums beside its counts. Each contributor is under at most `groupsMax`
 * keys, and adds `values` numbers between -1 and 1 to the sums of each.
 */
export interface GroupSumsEvent extends EventBase {
  readonly kind: 'group-sums';
  readonly groupsMax: number;
  /** A key with fewer contributors gets no noise and is not shown. */
  readonly prefilter: number;
  /** Sums of each key. */
  readonly values: number;
  /** Standard deviation of the noise of a count. */
  readonly sigma: number;
  /** Standard deviation of the noise of a sum. */
  readonly sumsSigma: number;
  readonly delta: number;
  /** Grid of the counts. */
  readonly grid: number;
  /** Grid of the sums. */
  readonly sumsGrid: number;
}

/**
 * The exponential mechanism with weights exp(epsilon * score / (2 sensitivity)), `times`
 * independent calls.
 */
export interface ExponentialEvent extends EventBase {
  readonly kind: 'exponential';
  readonly candidates: number;
  readonly sensitivity: number;
  readonly epsilon: number;
  readonly times: number;
}

interface MaskBase extends EventBase {
  readonly dimension: number;
  /** l: in every direction, the matrices of neighbours differ by a factor between e^-l and e^l. */
  readonly logDistance: number;
  /** The only Renyi order at which the event is charged; above 1. */
  readonly order: number;
}
/**
 * Publishes a positive definite matrix as the second moments of `samples` Gaussian draws with that
 * covariance. See accounting/masking.
 */
export interface WishartMaskEvent extends MaskBase {
  readonly kind: 'wishart-mask';
  readonly samples: number;
}
/**
 * Publishes a positive definite matrix S as S^1/2 (I + spread G)(I + spread G)^T S^1/2, with normal
 * entries in G. See accounting/masking.
 */
export interface AffineMaskEvent extends MaskBase {
  readonly kind: 'affine-mask';
  readonly spread: number;
}

/** One planned draw of noise. */
export type MechanismEvent =
  | GaussianEvent
  | SymmetricGaussianEvent
  | LaplaceEvent
  | GaussianThresholdEvent
  | GaussianHistogramEvent
  | GroupHistogramEvent
  | GroupWeightsEvent
  | GroupSumsEvent
  | ExponentialEvent
  | WishartMaskEvent
  | AffineMaskEvent;
