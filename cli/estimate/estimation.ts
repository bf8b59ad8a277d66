import type { Outcome } from '../../src/base/outcome.js';
import { partsByName, type NamedPart } from '../../src/base/parts.js';
import type {
  Compute, Estimator, Infeasible, ParameterValues, Participation, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import { runOffline } from '../../src/estimators/run.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import type { RowTable } from '../input/table.js';
import type { Randomness } from '../base/noise.js';
import { planWithin } from '../base/planning.js';
import { statementOf, type PrivacyStatement } from '../base/statement.js';

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
export async function estimateTable(table: RowTable, request: EstimateRequest): Promise<TimedResult> {
  const dimension = table.columns.length;
  const cohort = request.cohort ?? table.count;
  const participation: Participation = request.cohort === undefined ? 'public' : 'secret';
  const facts = { dimension, cohort, participation, target: request.target };
  const plan = planWithin(request.estimator, request.parameters, facts);
  const size = { rows: cohort, dimension, columns: table.columns };
  if (plan.kind === 'infeasible') {
    return { result: infeasible(plan, request.target, size), estimatorSeconds: undefined };
  }
  const startedMs = request.monotonicMs();
  const outcome = await runOffline({
    plan,
    dimension,
    rows: { values: table.values, count: table.count, isWhole: table.isWhole ?? false },
    mechanisms: createMechanisms(plan.events, request.randomness.noise(`${request.label}/release`)),
    // Tickets decide who shares a group with whom: secret, so from the noise source.
    tickets: request.randomness.noise(`${request.label}/tickets`),
    work: request.randomness.work(request.label),
    compute: request.compute,
  });
  const estimatorSeconds = Math.round(request.monotonicMs() - startedMs) / 1000;
  const statement = statementOf(plan, request.target);
  const compared = participation === 'secret' ? statement.neighbours : contentsOnly;
  // Moving to another group would change two releases; only staying, or staying away, changes one.
  const neighbours = table.group === null ? compared : `${compared}; never moved from one group to another`;
  const privacy = { ...statement, neighbours };
  const labels = request.estimator.outputLabels?.(request.parameters, table.columns);
  return { result: described(outcome, privacy, labels === undefined ? size : { ...size, labels }), estimatorSeconds };
}

/**
 * Without a public cohort the plan is made from the number of rows, so one row more or less may change
 * everything that the plan fixes: whatever the plan says for a fixed size, presence is not protected.
 */
const contentsOnly = 'the values of one contributor changed; who is present, and so the number of rows, is public';

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
