import { utf8 } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../src/estimators/run.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { dataSource } from '../support/data.js';
import type { Form } from './forms.js';

/** Every column x becomes a x + b. */
export interface Move {
  readonly factors: readonly number[];
  readonly shifts: readonly number[];
}

/** What is asked of an estimator. */
export interface Asked {
  readonly parameters: Form['parameters'];
  readonly rows: readonly Float64Array[];
  /** Of each row: which group it comes to, and in which order ties are broken. */
  readonly hashes: readonly Uint8Array[];
  readonly cohort: number;
  readonly epsilon: number;
  readonly noise: string;
  /** What `Form.spread` is after moves. */
  readonly unit: number;
}

const made = new WeakMap<Form, Asked>();

/** The sample of a form is made once: for counts that takes as long as an answer. */
export function sampleOf(form: Form): Asked {
  const sample = made.get(form) ?? newSample(form);
  made.set(form, sample);
  return sample;
}

function newSample(form: Form): Asked {
  const count = form.cohort;
  const data = dataSource(`relations ${form.estimator} ${form.label}`);
  const rows = Array.from({ length: count }, () => form.row(data));
  const hashes = rows.map(() => data.assignmentHash());
  return {
    parameters: form.parameters, rows, hashes, cohort: count, epsilon: 2, noise: 'relations',
    unit: form.spread,
  };
}

/** The plan, or in words why there is none. */
export function planned(form: Form, asked: Asked): Plan | string {
  const estimator = findEstimator(form.estimator);
  const { dimension } = form;
  try {
    const plan = estimator.plan(
      parseParameters(estimator.parameters, asked.parameters, { dimension }),
      {
        dimension, cohort: asked.cohort, participation: 'secret',
        target: privacyTarget({ epsilon: asked.epsilon, delta: 1e-6 }),
      },
    );
    return plan.kind === 'plan' ? plan : `no plan: ${plan.reason}`;
  } catch (error) {
    return `no plan: ${(error as Error).message}`;
  }
}

export async function answered(form: Form, asked: Asked): Promise<Outcome | string> {
  const plan = planned(form, asked);
  if (typeof plan === 'string') return plan;
  const groups = createGroups(plan, form.dimension);
  asked.rows.forEach((row, i) => { groups.add(asked.hashes[i]!, row); });
  return releaseGroups(plan, groups, {
    mechanisms: createMechanisms(plan.events, seededNoise(asked.noise)),
    work: seededRandom(utf8('work')),
  });
}

/** Parameters that name a place, not a length. */
const places = new Set(['low', 'high', 'edges', 'threshold', 'range']);

/** The parameters in the new units: those in data units move as the columns do. */
function movedParameters(
  form: Form, parameters: Form['parameters'], move: Move,
): Form['parameters'] {
  const specs = findEstimator(form.estimator).parameters;
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => {
    const { unit, type } = specs.find((spec) => spec.name === name)!;
    if (name === 'hypotheses') return [name, movedHypotheses(value, move)];
    if (unit === 'data units squared') return [name, Number(value) * move.factors[0]! ** 2];
    if (unit !== 'data units' || value === 'auto') return [name, value];
    const by = places.has(name) ? move
      : { factors: move.factors.map(Math.abs), shifts: move.shifts.map(() => 0) };
    return [name, movedValue(value, by, type)];
  }));
}

/** One value for each column: a column's own list, or the same for all. */
function movedValue(value: unknown, { factors, shifts }: Move, type: string): unknown {
  const at = (one: unknown, j: number): number =>
    Number(one) * factors[j]! + shifts[j]!;
  if (type === 'range') {
    return factors.map((_, j) => {
      const text = String(Array.isArray(value) ? value[j] : value);
      const ends = text.split('..').map((end) => at(end, j)).sort((one, other) => one - other);
      return ends.join('..');
    });
  }
  if (type === 'positive') {
    return factors.map((_, j) => at(Array.isArray(value) ? value[j] : value, j));
  }
  if (Array.isArray(value)) return value.map((one) => at(one, 0));
  return at(value, 0);
}

function movedHypotheses(value: unknown, { factors, shifts }: Move): unknown {
  return (value as { normal: { mean: number; deviation: number } }[]).map(({ normal }) => ({
    normal: {
      mean: normal.mean * factors[0]! + shifts[0]!,
      deviation: normal.deviation * Math.abs(factors[0]!),
    },
  }));
}

export function moved(form: Form, asked: Asked, move: Move): Asked {
  const { factors, shifts } = move;
  return {
    ...asked, parameters: movedParameters(form, asked.parameters, move),
    unit: asked.unit * Math.max(...factors.map(Math.abs)),
    rows: asked.rows.map((row) => row.map((value, j) => value * factors[j]! + shifts[j]!)),
  };
}

/** A factor of every number of the answer. */
export function factorsOf({ terms }: Form, { factors }: Move): number[] {
  return terms.map(({ powers, signs }) => factors.reduce((product, factor, j) =>
    product * Math.abs(factor) ** powers[j]! * Math.sign(factor) ** signs[j]!, 1));
}

/** What an answer is after the move. */
export function movedAnswer(form: Form, numbers: readonly number[], move: Move): number[] {
  const factors = factorsOf(form, move);
  return numbers.map((value, i) => {
    const { place } = form.terms[i]!;
    return value * factors[i]! + (place === null ? 0 : move.shifts[place]!);
  });
}
