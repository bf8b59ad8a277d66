import type { Contributors } from '../audit/contract.js';
import { utf8 } from '../base/bytes.js';
import type { ColumnInfo } from '../base/number-info.js';
import type { Outcome } from '../base/outcome.js';
import type {
  Estimator, ParameterValues, Plan, PrivacyTarget, StudyFacts,
} from '../estimators/contract/estimator.js';
import { parseParameters } from '../estimators/contract/parameters.js';
import { createGroups, releaseGroups, type Groups } from '../estimators/run.js';
import { privacyTarget } from '../privacy/accounting/target.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';
import { createMechanisms } from '../privacy/mechanisms/index.js';
import { seededNoise } from '../random/insecure.js';
import { seededRandom } from '../random/work.js';
import { check } from './checks.js';
import {
  seededData, type ComplianceSample, type SampleData, type SeededData,
} from './sample.js';

/** A contributor's row, and where it goes. */
export interface Entry {
  readonly assignmentHash: Uint8Array;
  readonly row: Float64Array;
}

/** Rows that their senders made up: the fraction of the contributors, and a row of one. */
export interface FalseRows {
  readonly fraction: number;
  row(data: SampleData): Float64Array;
}

/** Releases whose errors are measured together. */
export interface Measurement {
  /** Chooses rows and noise, with the name of the estimator. */
  readonly label: string;
  readonly contributors: number;
  readonly rounds: number;
  readonly falseRows?: FalseRows;
}

/** The privacy target of every trial. */
export const target: PrivacyTarget = privacyTarget({ epsilon: 2, delta: 1e-6 });

const columnNames = ['first', 'second', 'third'] as const;

export function contributorsOf(list: readonly Entry[]): Contributors {
  return {
    count: list.length,
    assignmentHashes: Uint8Array.from(list.flatMap(({ assignmentHash }) => [...assignmentHash])),
    rows: Float64Array.from(list.flatMap(({ row }) => [...row])),
  };
}

/** Names the events that a release draws. */
function recording(mechanisms: Mechanisms, names: Set<string>): Mechanisms {
  return new Proxy(mechanisms, {
    get(inner, property: keyof Mechanisms) {
      return (event: string, value: never, keys: never) => {
        names.add(event);
        return inner[property](event, value, keys);
      };
    },
  });
}

/** An estimator and the sample that it is tried on. */
export class Trial {
  readonly facts: StudyFacts;
  readonly columns: readonly ColumnInfo[];
  #plan: Plan | undefined;

  constructor(readonly estimator: Estimator, readonly sample: ComplianceSample) {
    const { dimension, cohort } = sample;
    this.facts = { dimension, cohort, participation: 'secret', target };
    this.columns = Array.from({ length: dimension }, (_, j) =>
      ({ name: columnNames[j] ?? `column ${j + 1}` }));
  }

  /** The parameters of the sample, parsed. */
  get parameters(): ParameterValues {
    return this.parse(this.sample.parameters);
  }

  parse(raw: Readonly<Record<string, unknown>>): ParameterValues {
    return parseParameters(this.estimator.parameters, raw, this.sample);
  }

  /** The plan for the sample. */
  get plan(): Plan {
    if (this.#plan === undefined) {
      const plan = this.estimator.plan(this.parameters, this.facts);
      check(plan.kind === 'plan', 'there is no plan for the sample: '
        + (plan.kind === 'infeasible' ? `${plan.reason}; ${plan.remedy}` : plan.kind));
      this.#plan = plan;
    }
    return this.#plan;
  }

  /** Data for one case. */
  data(label: string): SeededData {
    return seededData(`${this.estimator.name} ${label}`);
  }

  entries(
    data: SeededData, count: number, falseRows?: FalseRows,
  ): readonly Entry[] {
    const falseCount = (falseRows?.fraction ?? 0) * count;
    return Array.from({ length: count }, (_, i) => ({
      assignmentHash: data.assignmentHash(),
      row: i < falseCount ? falseRows!.row(data) : this.sample.honest(data),
    }));
  }

  filled(list: readonly Entry[]): Groups {
    const groups = createGroups(this.plan, this.sample.dimension);
    for (const { assignmentHash, row } of list) groups.add(assignmentHash, row);
    return groups;
  }

  /** @param names - takes the names of the events that are drawn. */
  release(groups: Groups, seed: string, names = new Set<string>()): Promise<Outcome> {
    return releaseGroups(this.plan, groups, {
      mechanisms: recording(createMechanisms(this.plan.events, seededNoise(seed)), names),
      work: seededRandom(utf8('work')),
    });
  }

  /** The Euclidean error in units; undefined when the release is refused. */
  errorOf(outcome: Outcome, list: readonly Entry[], shift = 0): number | undefined {
    if (outcome.kind === 'refused') return undefined;
    const truth = this.sample.truth(this.sample.dimension, list.map(({ row }) => row));
    return Math.hypot(...truth.map((value, j) =>
      (outcome.estimate[j]! - value - shift) / this.sample.unit));
  }

  /** The root mean square of the errors of the releases that were not refused. */
  async measured(
    { label, contributors, rounds, falseRows }: Measurement,
  ): Promise<{ readonly rms: number; readonly answered: number }> {
    let squares = 0;
    let answered = 0;
    for (let round = 0; round < rounds; round++) {
      const seed = `${label} ${round}`;
      const list = this.entries(this.data(seed), contributors, falseRows);
      const outcome = await this.release(this.filled(list), `${this.estimator.name} ${seed}`);
      const error = this.errorOf(outcome, list);
      if (error === undefined) continue;
      answered += 1;
      squares += error * error;
    }
    return { rms: Math.sqrt(squares / answered), answered };
  }
}
