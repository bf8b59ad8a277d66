import type { Generated, Selectable } from 'kysely';
import type { BudgetSpec, EpochState, LedgerEntry, StudyStateName } from '../contract.js';

/** Integers are read as bigint, so that none is rounded. The migrations explain the columns. */
export interface Tables {
  readonly meta: { readonly name: string; readonly value: bigint };
  readonly budgets: BudgetsTable;
  readonly budget_windows: BudgetWindowsTable;
  readonly studies: StudiesTable;
  readonly epochs: EpochsTable;
  readonly ledger: LedgerTable;
  readonly epochs_left_out: { readonly epoch_key: bigint; readonly contributors: bigint };
  readonly epoch_people: { readonly epoch_key: bigint; readonly people: bigint };
  readonly releases: ReleasesTable;
  readonly contributors: { readonly contributor_id: bigint; readonly public_key: Uint8Array };
  readonly quarantines: QuarantinesTable;
  readonly replay: ReplayTable;
  readonly withdrawals: WithdrawalsTable;
  readonly rollbacks: RollbacksTable;
  readonly running_series: {
    readonly study_key: bigint; readonly question: string; readonly sealed: Uint8Array;
  };
  readonly running_participations: {
    readonly study_key: bigint; readonly contributor_id: bigint; readonly epoch: bigint;
  };
  // These four in PostgreSQL only.
  readonly leases: { readonly budget_id: bigint; readonly node_id: bigint };
  readonly epoch_secrets: {
    readonly study_key: bigint; readonly epoch: bigint; readonly assignment_key: Uint8Array;
    readonly work_seed: Uint8Array; readonly fingerprint_key: Uint8Array;
    readonly row_key: bigint;
  };
  readonly row_keys: { readonly row_key: Generated<bigint>; readonly name: string };
  readonly epoch_tallies: {
    readonly epoch_key: bigint; readonly contributors: bigint; readonly complete: bigint;
    readonly left_out: bigint;
  };
  readonly new_keys: {
    readonly study_name: string; readonly per_ms: bigint; readonly from_ms: bigint;
    readonly keys: bigint;
  };
  readonly contributor_debits: {
    readonly budget_id: bigint; readonly contributor_id: bigint; readonly epoch_key: bigint;
    readonly rho: string; readonly delta: string; readonly pure: string | null;
  };
  readonly rollback_charges: { readonly entry_id: bigint; readonly rollback: bigint };
  readonly key_rotations: {
    readonly rotation: bigint; readonly record: Uint8Array; readonly at_ms: bigint;
  };
}

export interface ReplayTable {
  readonly study_key: bigint;
  readonly contributor_id: bigint;
  readonly contiguous: bigint;
  readonly high: bigint;
  readonly window: Uint8Array;
  readonly epoch_key: bigint;
  readonly row_count: bigint;
  readonly complete: bigint;
}

export interface WithdrawalsTable {
  readonly epoch_key: bigint;
  readonly contributor_id: bigint;
  readonly signature: Uint8Array;
  readonly at_ms: bigint;
}

export interface RollbacksTable {
  readonly rollback: Generated<bigint>;
  readonly at_ms: bigint;
  readonly ledger_found: bigint;
  readonly ledger_marked: bigint | null;
  readonly releases_found: bigint;
  readonly releases_marked: bigint | null;
}

export interface QuarantinesTable {
  readonly study_key: bigint;
  readonly contributor_id: bigint;
  readonly from_epoch: bigint;
  readonly distance: number;
  readonly beyond: number;
  readonly release_index: bigint;
  readonly at_ms: bigint;
}

export interface BudgetWindowsTable {
  readonly budget_id: bigint;
  readonly window_ms: bigint;
  readonly renewed_through_ms: bigint;
}

export interface BudgetsTable {
  readonly budget_id: Generated<bigint>;
  readonly budget_key: string;
  readonly scope: BudgetSpec['scope'];
  readonly rule: BudgetSpec['rule']['rule'];
  readonly renyi_order: number | null;
  readonly rho_cap: string;
  readonly delta_cap: string;
  readonly pure_cap: string;
  readonly rho_spent: string;
  readonly delta_spent: string;
  /** Null is `none`: a charge that counts was not pure, or nobody knows. */
  readonly pure_spent: string | null;
  readonly rho_reserved: string;
  readonly delta_reserved: string;
  readonly pure_reserved: string | null;
  readonly epsilon: number;
  readonly delta: number;
}

export interface StudiesTable {
  readonly study_key: Generated<bigint>;
  readonly study_id: string;
  readonly name: string;
  readonly document: string;
  readonly budget_id: bigint;
  readonly state: StudyStateName;
  readonly release_count: bigint;
  readonly last_digest: string;
  readonly last_epoch: bigint;
  readonly registered_at_ms: bigint;
  /** In PostgreSQL only, and set by the database. */
  readonly revision?: Generated<bigint>;
  /** In PostgreSQL only: whether the operator has ended it. */
  readonly ends?: Generated<boolean>;
}

export interface EpochsTable {
  readonly epoch_key: Generated<bigint>;
  readonly study_key: bigint;
  readonly epoch: bigint;
  readonly state: EpochState;
  readonly opens_at_ms: bigint;
  readonly closes_at_ms: bigint;
  readonly rho: string;
  readonly delta: string;
  readonly pure: string | null;
  readonly rows_max: bigint;
  readonly late: 'next' | 'drop';
  readonly recoveries: bigint;
  readonly contributors: bigint;
  readonly released_at_ms: bigint;
  readonly purged: bigint;
}

export interface LedgerTable {
  readonly entry_id: Generated<bigint>;
  readonly budget_id: bigint;
  readonly study_key: bigint;
  readonly epoch: bigint;
  readonly kind: Exclude<LedgerEntry['kind'], 'rollback'>;
  readonly rho: string;
  readonly delta: string;
  readonly pure: string | null;
  readonly events: string;
  readonly at_ms: bigint;
}

export interface ReleasesTable {
  readonly study_key: bigint;
  readonly release_index: bigint;
  readonly epoch: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  readonly digest: string;
  readonly stored_at_ms: bigint;
}

/** A budget as it is read, together with its window if it has one. */
export type BudgetRow = Selectable<BudgetsTable> & {
  /** Null for a budget that never renews. */
  readonly window_ms: BudgetWindowsTable['window_ms'] | null;
  readonly renewed_through_ms: BudgetWindowsTable['renewed_through_ms'] | null;
};
