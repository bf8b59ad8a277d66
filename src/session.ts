import { InvalidParameterError } from './base/errors.js';
import { checkObject, checkOptions } from './base/given.js';
import type { Participation } from './estimators/contract/estimator.js';
import { checkParticipation } from './estimators/contract/given.js';
import type { OwnedRows } from './estimators/run.js';
import {
  checkCohort, estimateTable, neighboursOf, planTable, systemRandomness, tableOf, type Estimate,
  type EstimateOptions,
} from './estimate.js';
import {
  ledgerState, memoryLedger, payFrom, targetUnder, type Ledger, type LedgerState,
} from './ledger.js';
import { checkedParameters } from './plan.js';

/** Options of a session: its rows, and either a budget or a ledger. */
export type SessionOptions = Pick<EstimateOptions, 'rows' | 'columns' | 'cohort'> & (
  | {
    /** The budget of all answers together, 1e-6 to 100. It ends with the session. */
    readonly epsilon: number;
    /** Probability that it fails, far below 1 / contributors; 0 for pure answers alone. */
    readonly delta: number;
    readonly participation: Participation;
    readonly ledger?: undefined;
  }
  | {
    /** Pays across sessions and programs: of `keelson/ledger`. It states the participation. */
    readonly ledger: Ledger;
    readonly epsilon?: undefined;
    readonly delta?: undefined;
    readonly participation?: undefined;
  }
);

/** Options of an answer of a session. */
export type AnswerOptions<Name extends string = string> =
  Omit<EstimateOptions<Name>, 'rows' | 'columns' | 'cohort' | 'participation' | 'delta'> & {
    /** Default: that of the budget. 0 asks for pure privacy. */
    readonly delta?: number;
  };

/**
 * Rows at hand with one budget for all answers about them. Each answer is charged before its noise
 * is drawn, by the accounting of a study, and one that does not fit is `infeasible`: nothing is
 * charged then, and the remedy says which epsilon would fit. O(rows) memory, twice in an answer.
 * @throws InvalidParameterError naming the option that is missing or out of range,
 *   InvalidInputError for rows that do not fit.
 * @example
 * const session = new Session({ rows, epsilon: 3, delta: 1e-6, participation: 'public' });
 * const answer = await session.estimate({
 *   estimator: mean, epsilon: 0.5, parameters: { spread: [12, 0.1] },
 * });
 * console.log(session.state.epsilon.spent, session.state.counts.left);
 */
export class Session {
  private readonly ledger: Ledger;
  private readonly rows: OwnedRows;
  private readonly dimension: number;
  private readonly cohort: number | undefined;

  constructor(options: SessionOptions) {
    checkOptions(options, [
      'rows', 'columns', 'cohort', 'participation', 'epsilon', 'delta', 'ledger',
    ], 'Session');
    const { cohort } = options;
    if (options.ledger === undefined) {
      const { epsilon, delta, participation } = options;
      checkParticipation(participation);
      this.ledger = memoryLedger({ data: 'this session', epsilon, delta, participation });
    } else {
      checkLedger(options);
      this.ledger = options.ledger;
    }
    checkCohort(this.ledger.terms.participation, cohort);
    const { rows, dimension } = tableOf(options.rows, options.columns);
    this.rows = rows;
    this.dimension = dimension;
    this.cohort = cohort;
  }

  /** Its budget: spent, left, and for how many more counts that lasts. */
  get state(): LedgerState {
    return ledgerState(this.ledger);
  }

  /**
   * Charges and runs one estimator, with noise from the operating system.
   * @returns as `estimate`; `infeasible` also where the budget does not pay.
   * @throws InvalidParameterError naming the option that is missing or out of range; StorageError
   *   when a ledger cannot be written: no noise was drawn then, and the charge may stand.
   */
  async estimate<Name extends string>(options: AnswerOptions<Name>): Promise<Estimate> {
    checkOptions(options, ['estimator', 'epsilon', 'delta', 'parameters'], 'session.estimate');
    const { ledger, dimension, cohort } = this;
    const { participation } = ledger.terms;
    const { estimator, epsilon, delta = ledger.terms.delta } = options;
    const parameters = checkedParameters(options, dimension);
    const facts = { rows: this.rows, dimension, estimator, parameters, cohort, participation };
    const target = targetUnder(ledger, { epsilon, delta });
    const plan = planTable({ ...facts, target });
    if (plan.kind === 'infeasible') return plan;
    const refused = payFrom(ledger, {
      answer: estimator.name, asked: { epsilon, delta }, participation, costs: [plan.cost],
      neighbours: neighboursOf(plan, cohort),
      again(smaller) {
        const found = planTable({ ...facts, target: smaller });
        return found.kind === 'plan' ? [found.cost] : null;
      },
    });
    if (refused !== null) return refused;
    // A run uses its rows up.
    const rows = { ...this.rows, values: this.rows.values.slice() };
    return estimateTable({ ...facts, rows, target, ...systemRandomness() }, plan);
  }
}

/** @throws InvalidParameterError, as TypeScript refuses it, for no ledger or for two budgets. */
function checkLedger({ ledger, epsilon, delta, participation }: SessionOptions): void {
  checkObject(ledger, 'ledger');
  if (!('terms' in ledger) || typeof ledger.charge !== 'function') {
    throw new InvalidParameterError(
      'ledger is what openLedger or createLedger of keelson/ledger returns',
    );
  }
  if (epsilon !== undefined || delta !== undefined || participation !== undefined) {
    throw new InvalidParameterError(
      'a session has one budget: leave epsilon, delta and participation to the ledger',
    );
  }
}
