import { describeNumbers, type Described } from '../../src/answers/describe.js';
import { areOfColumns, labelsOf } from '../../src/answers/words.js';
import type { ColumnType } from '../../src/base/columns.js';
import { withColumnNames } from '../../src/base/column-places.js';
import { findingText } from '../../src/base/findings.js';
import type { Finding, Interval95, Outcome } from '../../src/base/outcome.js';
import { partsByName, type NamedPart } from '../../src/base/parts.js';
import { estimateTable } from '../../src/estimate.js';
import type {
  Compute, Estimator, Infeasible, ParameterValues, Participation, Plan, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import { dimensionOf, type RowTable } from '../input/table.js';
import type { Randomness } from '../base/noise.js';
import type { PrivacyStatement } from '../../src/privacy-statement.js';

/** The output of `estimate` for one table of rows. */
export interface EstimateResult {
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly text?: string;
  readonly remedy?: string;
  /** False only if the plan failed before any noise was drawn. */
  readonly charged: boolean;
  /** Row-major in `shape`; empty if refused. */
  readonly estimate: readonly number[];
  readonly tensor?: { readonly order: number; readonly values: readonly number[] };
  /** An end about which nothing is known is infinite, which is null in JSON. */
  readonly interval95?: Interval95;
  readonly intervalIfFalse95?: Interval95;
  readonly radiusIfFalse95?: number;
  readonly spread?: readonly number[];
  readonly findings?: readonly FindingInWords[];
  readonly shape: readonly number[];
  /** Each part is also a member of the result, under its name and nested in its shape. */
  readonly parts?: readonly NamedPart[];
  /** The public size: --cohort, or the number of rows if that is public. Never a secret count. */
  readonly rows: number;
  readonly dimension: number;
  readonly columns: readonly string[];
  /** The name of each number of the estimate, if that is not simply its column. */
  readonly labels?: readonly string[];
  readonly privacy: PrivacyStatement;
  readonly uncertainty: { readonly kind: string };
  /** The assumption behind an accurate answer. Privacy never depends on it. */
  readonly assumes?: string;
}

/** A finding, with its text from `findingText`. */
export interface FindingInWords extends Finding {
  readonly text: string;
}

/** A result, and how long the estimator took. */
export interface TimedResult {
  readonly result: EstimateResult;
  /**
   * From rows in memory to the release, in seconds with whole milliseconds; undefined if nothing
   * ran. The time may depend on the number of rows and on their values. So it is not private, and
   * never part of the result.
   */
  readonly estimatorSeconds: number | undefined;
}

export interface EstimateRequest {
  readonly estimator: Estimator;
  readonly parameters: ParameterValues;
  readonly target: PrivacyTarget;
  /**
   * The public size. If undefined, it is the number of rows, which is then public.
   */
  readonly cohort: number | undefined;
  readonly participation: Participation;
  readonly randomness: Randomness;
  /** For large passes over the rows. */
  readonly compute: Compute;
  /** A clock in milliseconds. */
  readonly monotonicMs: () => number;
  /** The types of the columns; absent where all are numbers. */
  readonly types?: readonly ColumnType[] | undefined;
  /** Separates the noise of several runs, if the noise is seeded. */
  readonly label: string;
}

/**
 * Plans and runs one release over a table. Overwrites the table's values.
 * @param plan - of this release, where it was made before.
 */
export async function estimateRows(
  table: RowTable, request: EstimateRequest, plan?: Plan | Infeasible,
): Promise<TimedResult> {
  const { estimator, parameters, target, cohort, randomness, label, compute } = request;
  const dimension = dimensionOf(table);
  const size = { rows: cohort ?? table.count, dimension, columns: table.columns };
  const startedMs = request.monotonicMs();
  const answer = await estimateTable({
    rows: { values: table.values, count: table.count, isWhole: table.isWhole ?? false },
    dimension, estimator, parameters, target, cohort, participation: request.participation, compute,
    noise: randomness.noise(`${label}/release`),
    assignmentHashes: randomness.noise(`${label}/tickets`),
    work: randomness.work(label),
  }, plan);
  if (answer.kind === 'infeasible') {
    return { result: infeasible(answer, target, size), estimatorSeconds: undefined };
  }
  const estimatorSeconds = Math.round(request.monotonicMs() - startedMs) / 1000;
  const { neighbours } = answer.privacy;
  const privacy = {
    ...answer.privacy,
    // Moving to another group would change two releases. Staying in the group, or staying away,
    // changes one.
    neighbours: table.group === null
      ? neighbours : `${neighbours}; ${neverMoved}`,
  };
  const labels = ownLabelsOf({
    estimator: estimator.name, parameters, columns: table.columns, types: request.types,
  });
  const result = described(answer, privacy, { ...size, ...labels });
  return { result: { ...result, assumes: estimator.assumption }, estimatorSeconds };
}

/** The names of the numbers, unless these are those of the columns. */
export function ownLabelsOf(asked: Described): Pick<EstimateResult, 'labels'> {
  const numbers = describeNumbers(asked);
  return areOfColumns(numbers, asked.columns) ? {} : { labels: labelsOf(numbers) };
}

/** The neighbours of answers about groups that are public. */
export const neverMoved = 'each contributor always in the same group';

type Size = Pick<EstimateResult, 'rows' | 'dimension' | 'columns' | 'labels'>;

function infeasible(
  { reason, remedy }: Infeasible, target: PrivacyTarget, size: Size,
): EstimateResult {
  return {
    outcome: 'refused',
    reason: 'infeasible',
    text: withColumnNames(reason, size.columns),
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

/** An outcome in the form of the output. */
export function described(outcome: Outcome, privacy: PrivacyStatement, size: Size): EstimateResult {
  if (outcome.kind === 'refused') {
    const { reason } = outcome;
    const text = withColumnNames(outcome.text, size.columns);
    const empty = { estimate: [], shape: [], uncertainty: { kind: 'none' } };
    return { outcome: 'refused', reason, text, charged: true, ...empty, ...size, privacy };
  }
  const { estimate, shape, uncertainty, interval95, parts } = outcome;
  const { intervalIfFalse95, radiusIfFalse95, spread } = outcome;
  const findings = outcome.findings?.map((finding) =>
    ({ ...finding, text: findingText(finding, size.columns, outcome.groups) }));
  return {
    // The parts come first, so that no name of a part can replace a member below.
    ...partsByName(outcome),
    outcome: 'value',
    charged: true,
    estimate,
    ...(shape.length > 2 ? { tensor: { order: shape.length, values: estimate } } : {}),
    ...(interval95 === undefined ? {} : { interval95 }),
    ...(intervalIfFalse95 === undefined ? {} : { intervalIfFalse95 }),
    ...(radiusIfFalse95 === undefined ? {} : { radiusIfFalse95 }),
    ...(spread === undefined ? {} : { spread }),
    ...(findings === undefined ? {} : { findings }),
    shape,
    ...(parts === undefined ? {} : { parts }),
    ...size,
    privacy,
    uncertainty,
  };
}
