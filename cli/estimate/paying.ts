import { neighboursOf, planTable } from '../../src/estimate.js';
import type { Infeasible, Plan } from '../../src/estimators/contract/estimator.js';
import {
  ledgerState, ledgerText, payFrom, type Ledger, type LedgerState,
} from '../../src/ledger.js';
import { UsageError } from '../base/errors.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import type { Output } from '../base/output.js';
import { dimensionOf, type RowTable } from '../input/table.js';
import { neverMoved, type EstimateRequest } from './estimation.js';

/** The flags that say who a person is, and what is protected. */
interface PeopleFlags {
  readonly ledger?: string | undefined;
  readonly contributor?: string | undefined;
  readonly participation?: string | undefined;
}

/**
 * The ledger of `--ledger`, and the flags with what it states.
 * @param statesAll - a study file states the participation.
 * @throws UsageError when the flags take other people than the ledger does; as `openLedger`.
 */
export async function withLedger<Flags extends PeopleFlags>(
  flags: Flags, statesAll: boolean,
): Promise<{ readonly ledger: Ledger | undefined; readonly args: Flags }> {
  if (flags.ledger === undefined) return { ledger: undefined, args: flags };
  const { openLedger } = await import('../../server/ledger/file.js');
  const ledger = openLedger(flags.ledger);
  const { contributor, participation } = ledger.terms;
  if (flags.contributor !== undefined && flags.contributor !== contributor) {
    throw new UsageError(`--contributor ${flags.contributor} makes people of its ids, and for the `
      + `ledger ${flags.ledger} ${contributor === undefined ? 'every row is one person'
        : `those of ${contributor} are people`}: leave --contributor out, or use another ledger`);
  }
  return {
    ledger,
    args: {
      ...flags, ...(contributor !== undefined && { contributor }),
      ...(!statesAll && { participation: flags.participation ?? participation }),
    },
  };
}

/** The plans of some tables, and why a ledger does not pay for them; null: it has paid. */
export interface PaidPlans {
  readonly plans: readonly (Plan | Infeasible)[];
  readonly refused: Infeasible | null;
  /** After the charge. It is read before anything is drawn, so that nothing can lose the answer. */
  readonly state: LedgerState;
}

/** Plans a release over each table, and charges them together: a person is in one table alone. */
export function payForTables(
  ledger: Ledger, tables: readonly RowTable[],
  asked: Pick<EstimateRequest,
    'estimator' | 'parameters' | 'target' | 'cohort' | 'participation'>,
): PaidPlans {
  const planned = (target = asked.target): readonly (Plan | Infeasible)[] =>
    tables.map((table) => planTable({
      ...asked, target, rows: { count: table.count }, dimension: dimensionOf(table),
    }));
  const feasible = (plans: readonly (Plan | Infeasible)[]): readonly Plan[] =>
    plans.filter((plan): plan is Plan => plan.kind === 'plan');
  const plans = planned();
  const first = feasible(plans)[0];
  const state = (): LedgerState => ledgerState(ledger, asked.target.epsilon);
  if (first === undefined) return { plans, refused: null, state: state() };
  const neighbours = neighboursOf(first, asked.cohort);
  const refused = payFrom(ledger, {
    answer: asked.estimator.name,
    asked: { epsilon: asked.target.epsilon, delta: asked.target.deltaTotal },
    participation: asked.participation,
    costs: feasible(plans).map(({ cost }) => cost),
    neighbours: tables[0]!.group === null ? neighbours : `${neighbours}; ${neverMoved}`,
    again(target) {
      const costs = feasible(planned(target)).map(({ cost }) => cost);
      return costs.length === 0 ? null : costs;
    },
  });
  return { plans, refused, state: state() };
}

/** Prints what is left. */
export function printLedger(state: LedgerState | undefined, output: Output): void {
  if (state === undefined) return;
  wrap(ledgerText(state), terminalColumns).forEach((line) => output.text(line));
}

/** Prints why nothing was run. Nothing is charged. */
export function printRefusal(
  name: string, { reason, remedy }: Infeasible, state: LedgerState | undefined, output: Output,
): 1 {
  output.json({
    estimator: name, outcome: 'infeasible', charged: false, reason, remedy,
    ...(state === undefined ? {} : { ledger: state }),
  });
  for (const [text, indent] of [[`refused: ${reason}`, ''], [remedy, '  ']] as const) {
    wrap(text, terminalColumns - indent.length)
      .forEach((line) => output.text(`${indent}${line}`));
  }
  return 1;
}
