import type { BudgetSpec } from '../contract.js';
import { budgetRows, specOf } from '../rules/budgets.js';
import { plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import { noSpend, spendOf } from '../rules/spend.js';
import { draftMark, publishMark, type Mark, type StudyMark } from './mark.js';
import { sql } from '../rules/steps.js';
import type { Queries } from './query.js';

/** The progress of the ledger, study by study. */
export interface Progress {
  /** The newest entry of the ledger that was read; 0 when there is none. */
  readonly ledger: bigint;
  /**
   * For each charged study, by its database key: its newest epoch, and the sum of all its charges.
   */
  readonly charged: ReadonlyMap<bigint, { readonly epoch: bigint; readonly total: Charge }>;
}

export const noProgress: Progress = { ledger: 0n, charged: new Map() };

/** Reads the ledger entries after `before`. */
export function progressSince(queries: Queries, before: Progress): Progress {
  const charged = new Map(before.charged);
  let { ledger } = before;
  const entries = queries.all(sql.selectFrom('ledger')
    .select(['entry_id', 'study_key', 'epoch', 'kind', 'rho', 'delta', 'pure'])
    .where('entry_id', '>', before.ledger).orderBy('entry_id'));
  for (const entry of entries) {
    ledger = entry.entry_id;
    if (entry.kind !== 'charged') continue;
    const known = charged.get(entry.study_key) ?? { epoch: 0n, total: noSpend };
    charged.set(entry.study_key, {
      epoch: entry.epoch > known.epoch ? entry.epoch : known.epoch,
      total: plusCharge(known.total, spendOf(entry)),
    });
  }
  return { ledger, charged };
}

/** The mark of the database's present contents. */
export function markOf(queries: Queries, { ledger, charged }: Progress): Mark {
  const budgets = new Map<string, BudgetSpec>();
  const known = new Map(queries.all(budgetRows()).map((row) => [row.budget_id, row]));
  const studies = queries.all(sql.selectFrom('studies').selectAll().orderBy('study_key'))
    .flatMap((study): StudyMark[] => {
      const own = charged.get(study.study_key);
      if (own === undefined) return [];
      const budget = specOf(known.get(study.budget_id)!);
      budgets.set(budget.key, budget);
      return [{
        studyId: study.study_id, name: study.name, document: study.document, budgetKey: budget.key,
        epoch: own.epoch, charged: own.total,
        releases: Number(study.release_count), digest: study.last_digest,
      }];
    });
  return { ledger, budgets: [...budgets.values()], studies };
}

/** Keeps the folder's mark in step with its database. */
export class HighWater {
  #progress = noProgress;

  constructor(private readonly queries: Queries, private readonly directory: string) {}

  /**
   * Runs a transaction. Returns when the transaction and the new mark are both durable. mark.ts has
   * the steps, and the state after a crash between them.
   * @throws StorageError when the mark cannot be written. When its draft fails, the transaction is
   *   rolled back.
   */
  advance<T>(action: () => T): T {
    const { queries, directory } = this;
    const { result, progress } = queries.transaction(() => {
      const done = action();
      const reached = progressSince(queries, this.#progress);
      draftMark(directory, markOf(queries, reached));
      return { result: done, progress: reached };
    });
    publishMark(directory);
    this.#progress = progress;
    return result;
  }
}
