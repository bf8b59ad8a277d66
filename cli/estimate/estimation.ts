import type { Outcome } from '../../src/base/outcome.js';
import { partsByName, type NamedPart } from '../../src/base/parts.js';
import { estimateTable } from '../../src/estimate.js';
import type {
  Compute, Estimator, Infeasible, ParameterValues, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import type { RowTable } from '../input/table.js';
import type { Randomness } from '../base/noise.js';
import type { PrivacyStatement } from '../../src/privacy-statement.js';

/** What `estimate` prints for one table of rows. */
export interface EstimateResult {
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly text?: string;
  readonly remedy?: string;
  /** False only when the plan failed before any noise was drawn. */
  readonly charged: boolean;
  /** Row-major in `shape`; empty when refused. */
  readonly estimate: readonly number[];
  readonly tensor?: { readonly order: number; readonly values: readonly number[] };
  readonly interval95?: { readonly low: readonly number[]; readonly high: readonly number[] };
  readonly shape: readonly number[];
  /** Each part stands beside them as well, under its name and nested in its shape. */
  readonly parts?: readonly NamedPart[];
  /** The public size: --cohort, or the number of rows where that is treated as public. Never a secret count. */
  readonly rows: number;
  readonly dimension: number;
  readonly columns: readonly string[];
  /** What each number of the estimate is, where that is not simply the columns. */
  readonly labels?: readonly string[];
  readonly privacy: PrivacyStatement;
  readonly uncertainty: { readonly kind: string };
}

/** A result, and how long the estimator took. */
export interface TimedResult {
  readonly result: EstimateResult;
  /**
   * From rows in memory to the release, whole milliseconds; undefined when nothing ran. Not private: the time may depend
   * on how many rows there are and on what they hold, so it is never part of the result.
   */
  readonly estimatorSeconds: number | undefined;
}

export interface EstimateRequest {
  readonly estimator: Estimator;
  readonly parameters: ParameterValues;
  readonly target: PrivacyTarget;
  /** Given: the number of rows is secret. Undefined: it is taken for the public size. */
  readonly cohort: number | undefined;
  readonly randomness: Randomness;
  /** For large passes over the rows. */
  readonly compute: Compute;
  /** A clock in milliseconds. */
  readonly monotonicMs: () => number;
  /** Separates the noise of several runs when it is seeded. */
  readonly label: string;
}

/** Plans and runs one release over a table, whose values are used up. */
export async function estimateRows(table: RowTable, request: EstimateRequest): Promise<TimedResult> {
  const { estimator, parameters, target, cohort, randomness, label, compute } = request;
  const dimension = table.columns.length;
  const size = { rows: cohort ?? table.count, dimension, columns: table.columns };
  const startedMs = request.monotonicMs();
  const answer = await estimateTable({
    rows: { values: table.values, count: table.count, isWhole: table.isWhole ?? false },
    dimension, estimator, parameters, target, cohort, compute,
    noise: randomness.noise(`${label}/release`),
    tickets: randomness.noise(`${label}/tickets`),
    work: randomness.work(label),
  });
  if (answer.kind === 'infeasible') {
    return { result: infeasible(answer, target, size), estimatorSeconds: undefined };
  }
  const estimatorSeconds = Math.round(request.monotonicMs() - startedMs) / 1000;
  const { neighbours } = answer.privacy;
  const privacy = {
    ...answer.privacy,
    // Moving to another group would change two releases; only staying, or staying away, changes one.
    neighbours: table.group === null ? neighbours : `${neighbours}; never moved from one group to another`,
  };
  const labels = estimator.outputLabels?.(parameters, table.columns);
  return { result: described(answer, privacy, labels === undefined ? size : { ...size, labels }), estimatorSeconds };
}

type Size = Pick<EstimateResult, 'rows' | 'dimension' | 'columns' | 'labels'>;

function infeasible({ reason, remedy }: Infeasible, target: PrivacyTarget, size: Size): EstimateResult {
  return {
    outcome: 'refused',
    reason: 'infeasible',
    text: reason,
    remedy,
    charged: false,
    estimate: [],
    shape: [],
    ...size,
    privacy: {
      epsilon: 0,
      delta: 0,
      rho: 0,
      neighbours: `nothing ran; asked were epsilon ${target.epsilon}, delta ${target.deltaTotal}`,
    },
    uncertainty: { kind: 'none' },
  };
}

function described(outcome: Outcome, privacy: PrivacyStatement, size: Size): EstimateResult {
  if (outcome.kind === 'refused') {
    const { reason, text } = outcome;
    const empty = { estimate: [], shape: [], uncertainty: { kind: 'none' } };
    return { outcome: 'refused', reason, text, charged: true, ...empty, ...size, privacy };
  }
  const { estimate, shape, uncertainty, interval95, parts } = outcome;
  return {
    // First: no name of a part may take the place of what follows.
    ...partsByName(outcome),
    outcome: 'value',
    charged: true,
    estimate,
    ...(shape.length > 2 ? { tensor: { order: shape.length, values: estimate } } : {}),
    ...(interval95 === undefined ? {} : { interval95 }),
    shape,
    ...(parts === undefined ? {} : { parts }),
    ...size,
    privacy,
    uncertainty,
  };
}
