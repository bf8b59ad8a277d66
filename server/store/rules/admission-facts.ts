import type { Caps, Charge } from '../../../src/privacy/accounting/budget.js';
import type { StudyId } from '../contract.js';
import type { StudyFacts } from './admission-list.js';
import type { OpenEpochFacts } from './admission-rules.js';
import { capsOf } from './budgets.js';
import { rateIn, type NewKeyRate } from './new-keys.js';
import { ownBudget, type OwnBudget } from './own-budget.js';
import { separationIn } from './running-series.js';
import { spendOf } from './spend.js';
import { first, sql, type Steps } from './steps.js';

/** A study's facts as a store's admission knows them, until some of them change. */
export interface StoredFacts extends StudyFacts {
  /**
   * Set under contributor scope: the cost of a contributor's first row of the open epoch, and the
   * cap.
   */
  readonly debit: Debits | null;
  /** Set under contributor scope. */
  readonly own: OwnBudget | null;
  /** True if the study has quarantined keys. If not, no key is looked up. */
  readonly excludes: boolean;
  /** Set when the study has running totals: contributors enter epochs that far apart. */
  readonly separation: bigint | null;
  /** Set when the study limits the number of new keys that it accepts. */
  readonly rate: NewKeyRate | null;
}

export interface Debits {
  readonly cost: Charge;
  readonly caps: Caps;
  /** Scheduled close of the open epoch; Infinity where it closes on a count. */
  readonly closesAtMs: number;
}

/** Undefined for a study that was never registered. */
export function* readFacts(studyId: StudyId): Steps<StoredFacts | undefined> {
  const row = yield* first(
    sql.selectFrom('studies').innerJoin('budgets', 'budgets.budget_id', 'studies.budget_id')
      .select([
        'study_key', 'name', 'document', 'state', 'last_epoch', 'scope', 'studies.budget_id',
        'rho_cap', 'delta_cap', 'pure_cap',
      ])
      .where('study_id', '=', studyId),
  );
  if (row === undefined) return undefined;
  const newest = yield* first(sql.selectFrom('epochs')
    .select([
      'epoch_key', 'epoch', 'state', 'rows_max', 'late', 'rho', 'delta', 'pure', 'closes_at_ms',
    ])
    .where('study_key', '=', row.study_key).where('epoch', '=', row.last_epoch));
  const epoch = newest?.state === 'open' ? newest : undefined;
  const open: OpenEpochFacts | null = epoch === undefined ? null
    : { epochKey: epoch.epoch_key, epoch: epoch.epoch, rowsMax: Number(epoch.rows_max) };
  const excluded = yield* first(sql.selectFrom('quarantines').select('study_key')
    .where('study_key', '=', row.study_key).limit(1));
  const byContributor = row.scope === 'contributor';
  return {
    studyKey: row.study_key, state: row.state, open, newest: row.last_epoch,
    late: newest?.late ?? 'next', rate: rateIn(row.name, row.document),
    separation: separationIn(row.document), excludes: excluded !== undefined,
    own: byContributor ? yield* ownBudget(row.budget_id) : null,
    debit: !byContributor || epoch === undefined ? null : {
      caps: capsOf(row), cost: spendOf(epoch),
      closesAtMs: epoch.closes_at_ms === 0n ? Infinity : Number(epoch.closes_at_ms),
    },
  };
}
