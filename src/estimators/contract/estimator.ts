import type { Released, Sensitive } from '../../base/brands.js';
import type { ParameterValue, ParameterValues, Participation } from '../../base/facts.js';
import type { Describe } from '../../base/number-info.js';
import type { Outcome } from '../../base/outcome.js';
import type { NamedPart } from '../../base/parts.js';
import type { PrivacyCost } from '../../privacy/accounting/cost.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import type { PrivacyTarget } from '../../privacy/accounting/target.js';
import type { FoundKeys, Mechanisms } from '../../privacy/mechanisms/contract.js';
import type { WorkRandom } from '../../random/source.js';

/**
 * The estimator contract: one small interface for every estimator of the five papers, so that
 * scheduler, command, dashboard, audit and compliance suite never branch on a name.
 *
 * Life of a release: `plan` (public facts only) -> rows are added to summaries as contributions
 * complete -> `finish` each summary -> `release` once, through mechanisms built from the plan's
 * events.
 */
export type { ParameterValue, ParameterValues, Participation } from '../../base/facts.js';
export type { PrivacyTarget } from '../../privacy/accounting/target.js';

/**
 * The keys that a question is split by. A contributor has a row for each of its keys, at most
 * `groupsMax`, and the first entry of a row is the place of its key, from 0.
 * `public`: there are `count` keys, and everybody knows them.
 * `discovered`: the keys are found among those that contributors send.
 */
export type KeyFacts =
  | { readonly list: 'public'; readonly groupsMax: number; readonly count: number }
  | {
    readonly list: 'discovered'; readonly groupsMax: number; readonly top: number;
    readonly prefilter: number;
    /** At most this many keys that the previous release showed are shown again. */
    readonly remember?: number;
    /**
     * The answer is the keys alone. The last entry of a row is the number of its contributor's
     * keys. Absent: each key has an answer of its own.
     */
    readonly answer?: 'groups';
  };

/** The public facts from which an estimator plans. */
export interface StudyFacts {
  /**
   * Entries of a row, 1..limits.columns; with `keys` the place of the key is one of them. So
   * parameters with a number for each column have fewer: see `columnsOf` in contract/given.
   */
  readonly dimension: number;
  /** Present if the question is split by keys. Only estimators with `keyed` get this. */
  readonly keys?: KeyFacts;
  /** Nominal contributors per epoch: public, never counted. */
  readonly cohort: number;
  readonly participation: Participation;
  readonly target: PrivacyTarget;
  /**
   * Present if the answer is a total over epochs; see privacy/running. Contributors are in at most
   * one of any `separation` successive epochs. An estimator that cannot give totals ignores it, and
   * its plan has no `running`.
   */
  readonly running?: { readonly separation: number };
}

/** The paper that an estimator is from. */
export interface Citation {
  /** Short key as in docs, e.g. "AL22". */
  readonly key: string;
  readonly text: string;
  /** Where in it, e.g. "Algorithm 1". */
  readonly place: string;
}

/** One declared parameter; `parseParameters` checks against it and the command prints it. */
export interface ParameterSpec {
  readonly name: string;
  /**
   * `positive`: one positive number, or one per column. `range`: `low..high`, or one per column;
   * parsed to low and high of each column, in this order. `numbers`: an ascending list, each number
   * above the one before. `list`: a list of objects that the estimator reads; parsed to its
   * canonical JSON text, of at most limits.parameterText characters.
   */
  readonly type: 'number' | 'integer' | 'choice' | 'boolean' | 'positive' | 'range' | 'numbers'
    | 'list';
  /** Absent: the parameter must be given, unless it is optional. */
  readonly default?: ParameterValue;
  /** The estimator works out a value from public facts when none is given. */
  readonly optional?: true;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The values of a `choice`; for a `positive`, the words that it accepts besides numbers. */
  readonly choices?: readonly string[];
  /**
   * For `numbers` and `list`: the longest list; at most limits.columns, which is what a study
   * document holds. Default: that.
   */
  readonly lengthMaximum?: number;
  readonly unit?: string;
  readonly description: string;
}

/** The plan fails on public numbers: nothing runs, nothing is charged. */
export interface Infeasible {
  readonly kind: 'infeasible';
  readonly reason: string;
  /** The change that would make it feasible. */
  readonly remedy: string;
  readonly cohortNeeded?: number;
}

/** A disjoint part of an epoch's contributors, and how it is split into groups. */
export interface ArmPlan {
  readonly name: string;
  /** Share of the contributors; the shares of the arms of a plan sum to 1. */
  readonly share: number;
  /** The form of an entry: a contributor's row, or a pair of rows formed by slots. */
  readonly unit: 'row' | 'pair';
  /** `pooled`: one summary that keeps the rows. `disjoint`: one summary per hash group. */
  readonly mode: 'disjoint' | 'pooled';
  /** Number of hash groups; 1 for pooled. */
  readonly groups: number;
  /** Pairs only: public number of slots in each group, about half of its nominal members. */
  readonly slots?: number;
}

/** The promises of a plan, and their assumptions. */
export interface Guarantee {
  /** Which data sets are neighbours, one sentence. */
  readonly neighbours: string;
  readonly theorem: string;
  readonly assumptions: readonly string[];
  /** Corruption up to which expectedError holds; 0 when not robust. */
  readonly corruptionMax: number;
}

/**
 * Root of the expected squared Euclidean error, and its parts, in units of spread or those of the
 * fact `errorsAreIn`.
 */
export interface ExpectedError {
  readonly total: number;
  readonly sampling: number;
  readonly noise: number;
  readonly bias: number;
}

/**
 * The rows of a pooled cohort. Sorted by tag before an estimator sees them, so that a release does
 * not depend on arrival order; an estimator whose release does not anyhow may ask for them as they
 * came.
 */
export interface PooledRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major, count * dimension. May be a view of a SharedArrayBuffer. */
  readonly values: Float64Array;
  /**
   * A keyed hash of the contributor, distinct per row. Empty where the summary was asked for no
   * tags.
   */
  readonly tags: BigUint64Array;
  /**
   * In place of tags, for rows in no order: fills in those of the next rows, until all rows have
   * had theirs.
   */
  readonly drawTags?: (into: BigUint64Array) => void;
  /** The release may overwrite the values: nobody else reads them. */
  readonly isScratch?: boolean;
}

/** A finished group: a small vector, and the number of rows behind it. */
export interface GroupStatistic {
  readonly count: number;
  /** Estimator-defined length, the same for every group; finite. */
  readonly values: Float64Array;
}

/**
 * Contributors of each place of discovered keys. There may be millions of places. May be a view of
 * a state, so it is not written to.
 */
export type PlaceCounts = Uint16Array | Uint32Array;

/** Sums over the contributors of each place, besides their number. May be views of a state. */
export interface PlaceSums {
  /** The whole sums of a place that has contributors: the same number of them for each. */
  of(place: number): Float64Array;
  /** Whole sums over the rows of all places. */
  readonly overall: Float64Array;
}

/**
 * The result of `finish`: rows for a pooled cohort; for a disjoint group a statistic, or a label
 * that others may share; for discovered keys the contributors of each place.
 */
export type Finished =
  | { readonly kind: 'pooled'; readonly rows: PooledRows }
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'group'; readonly statistic: GroupStatistic }
  | { readonly kind: 'places'; readonly counts: PlaceCounts; readonly sums?: PlaceSums };

/**
 * Grows as rows arrive; replayable. `State` never leaves the server and is only read through
 * these functions. `add` may change and return the same state. A row with a non-finite entry never
 * reaches `add` (it is refused or reduced before).
 */
export interface Summary<State = unknown> {
  /** The states of `groups` groups, none with rows, kept together; where absent, one by one. */
  table?(groups: number): SummaryTable<State>;
  /** `add` does not look at tags: it may be given 0n for each. */
  readonly untagged?: true;
  /**
   * States are whole numbers that add up exactly: rows in any order, added to any number of states
   * that are then merged, give the same bits. A state is small beside its rows. So several servers
   * may each summarise some of the contributors of an epoch.
   */
  readonly exact?: true;
  empty(): State;
  /** `row` has the study's dimension (a pair: the scaled difference). Copies what it keeps. */
  add(state: State, row: Float64Array, tag: bigint): State;
  /**
   * As `add` for each of `count` rows side by side, all finite, of a summary that is `untagged`: it
   * changes the state. Where absent, rows come one by one.
   */
  addRows?(state: State, values: Float64Array, count: number): void;
  /**
   * A summary of rows at hand that takes over their memory, for pooled rows: no copy is made, and
   * the state is finished once. All rows are finite.
   * @param draw - fills in tags, fresh and independent of the rows.
   */
  adopt?(values: Float64Array, count: number, draw: (into: BigUint64Array) => void): State;
  merge(left: State, right: State): State;
  /**
   * Deterministic given the set of rows and `work`. Total: odd data gives a documented default
   * point.
   */
  finish(state: State, work: WorkRandom): Finished;
  encode(state: State): Uint8Array;
  /** @throws InvalidParameterError on bytes that `encode` did not write. */
  decode(bytes: Uint8Array): State;
}

/**
 * The states of all groups of a cohort: for each the same, bit for bit, as `Summary.add` and
 * `merge` make it alone.
 */
export interface SummaryTable<State = unknown> {
  /**
   * `row` has the study's dimension and only finite entries. What is kept is copied.
   * @param assignmentHash - the contributor's.
   */
  add(group: number, row: Float64Array, assignmentHash: Uint8Array): void;
  /** See `Summary.addRows`. */
  addRows?(group: number, values: Float64Array, count: number): void;
  /** The state of one group: for `finish`, `encode` and `merge`, which do not change it. */
  state(group: number): State;
  /** Adds another state's rows to a group's; `state` stays as it is. */
  merge(group: number, state: State): void;
  /** Makes `state`, which nobody else holds, that of a group that had no rows. */
  put(group: number, state: State): void;
}

/** Finished summaries by cohort name, one entry per group (pooled: one). */
export type FinishedSummaries = ReadonlyMap<string, Sensitive<readonly Finished[]>>;

/** An injected pool of workers for heavy deterministic kernels; inline in tests and browsers. */
export interface Compute {
  /** Worker threads behind it; 0 when inline. */
  readonly parallelism: number;
  /**
   * Runs a registered kernel by name on structured-cloneable input. Results do not depend on
   * parallelism.
   * @param thread - which one, below `parallelism`; default: whichever has least to do.
   */
  run<Output>(kernel: string, input: unknown, thread?: number): Promise<Output>;
  /** Told of every pass over rows before it begins; for tests that count work. */
  onPass?(kernel: string, rows: number): void;
}

/**
 * A bound in public numbers on the work of a release. A pass takes about rows * columns^2
 * multiplications twice, and the eigenvalues of two or three matrices of columns^2 entries.
 */
export interface PlannedWork {
  /** Passes over the rows, at most, whatever the rows are. */
  readonly passes: number;
  /** Rows of a pass, at most. */
  readonly rows: number;
  readonly columns: number;
}

/** How an answer becomes a total over epochs. */
export interface PlannedSeries {
  readonly separation: number;
  /** The plan's Gaussian event. Its values are whole numbers, one for each of the answer. */
  readonly event: string;
  readonly entries: number;
  /** Standard deviation of the noise of one release. */
  readonly sigma: number;
}

/** How far one contributor more moves a number, at most: 0 or more downwards and upwards. */
export interface Reach {
  readonly down: number;
  readonly up: number;
}

/**
 * One release: its cost, noise draws and expected error, and how to run it. Made from public facts
 * alone.
 */
export interface Plan {
  readonly kind: 'plan';
  readonly arms: readonly ArmPlan[];
  /** Never above the target it was planned for. */
  readonly cost: PrivacyCost;
  /** Every noise draw that `release` may make. */
  readonly events: readonly MechanismEvent[];
  readonly guarantee: Guarantee;
  /** Row-major shape of the estimate, e.g. [d] or [d, d]. */
  readonly outputShape: readonly number[];
  /**
   * The plan shows keys that it finds: its values have `keys`, and their first axis, the keys, is
   * at most that of `outputShape`.
   */
  readonly findsKeys?: true;
  /**
   * For a plan with discovered keys: the most memory that a summary uses for each key besides its
   * count, in bytes. Absent: none.
   */
  readonly bytesPerKey?: number;
  /** Present if `facts.running` is, and the estimator gives totals over epochs. */
  readonly running?: PlannedSeries;
  /** The parts of every value that it releases: the same names and shapes. Absent: no parts. */
  readonly parts?: readonly NamedPart[];
  /**
   * The reach of each number of one key, in turn, where the answer is split by keys. Intervals are
   * widened by it for people who lose keys. Absent: nothing is known, as for a mean.
   */
  readonly reach?: readonly Reach[];
  /**
   * Standard deviation of the privacy noise per output coordinate, in data units; empty when the
   * noise is of no one law, or when the units themselves are found privately.
   */
  readonly noise: readonly number[];
  /**
   * Public numbers worth showing (groups, radius, clip radius ...), for `plan` and the dashboard.
   */
  readonly facts: Readonly<Record<string, number | string>>;
  /**
   * Where the number of passes over the rows depends on the rows: the most that there can be.
   * A server that publishes on schedule waits until this much work would be done, so that the time
   * reveals nothing. Absent: the passes follow from public and released numbers alone.
   */
  readonly work?: PlannedWork;
  /**
   * Error expected when a share `corruption` of the contributors is hostile. Infinity past its
   * promise.
   */
  expectedError(corruption: number): ExpectedError;
  summary(cohort: string): Summary;
  /**
   * Called once. Data-dependent failure is a refused outcome, never an exception.
   * @param keys - of a plan for keys that are discovered: the keys at the places in the rows.
   * @param known - of such a plan: keys that earlier releases showed, at most `top`. They are shown
   *   whatever their counts are. Default: none.
   */
  release(
    summaries: FinishedSummaries,
    mechanisms: Mechanisms,
    compute: Compute,
    keys?: Sensitive<FoundKeys>,
    known?: readonly (readonly string[])[],
  ): Promise<Released<Outcome>>;
}

/**
 * A private estimator: its name, its parameters, and how it plans a release. The name of one of
 * Keelson's own is a type, so that a compiler knows its parameters.
 */
export interface Estimator<Name extends string = string> {
  readonly name: Name;
  readonly title: string;
  readonly citations: readonly Citation[];
  readonly parameters: readonly ParameterSpec[];
  /** The kinds of key lists by which it can split its answer in one release. Absent: none. */
  readonly keyed?: readonly KeyFacts['list'][];
  /**
   * `recommended`: one of the few that answer most questions well. `research`: a system of a paper,
   * or a variant to compare with.
   */
  readonly maturity: 'recommended' | 'research';
  /**
   * The condition for accurate answers, one sentence in plain words. Privacy never depends on
   * it.
   */
  readonly assumption: string;
  /** Neighbours and cost in one sentence, for `keelson estimators`. */
  readonly claim: string;
  /**
   * Describes each number of an answer; where the answer is split, each number of one group.
   * @throws InvariantError for parameters that are not parsed.
   */
  readonly describe: Describe;
  /** How far m people who lie can move an answer, before noise. Absent: nothing short is true. */
  readonly liars?: string;
  /**
   * Pure: no data, no randomness.
   * @param parameters - as `parseParameters` returned them for this estimator.
   * @throws InvalidParameterError when a combination of parameters is impossible.
   */
  plan(parameters: ParameterValues, facts: StudyFacts): Plan | Infeasible;
}
