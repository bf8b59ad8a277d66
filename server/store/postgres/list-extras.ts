import type { Charge } from '../../../src/privacy/accounting/budget.js';
import type { AdmissionRequest } from '../contract.js';
import type { NewKeyPeriod } from '../rules/new-keys.js';
import { spendOf, type AmountRow } from '../rules/spend.js';
import type { PostgresFacts } from './admission-facts.js';
import { int8Array, textArray } from './arrays.js';
import { pairName, type Window } from './list-reads.js';
import type { Session } from './session.js';

/** Facts about contributors that only some studies need. Keys are `pairName`s. */
export interface Extras {
  /** The first epoch that leaves a contributor out, by study. */
  readonly excluded: ReadonlyMap<string, bigint>;
  /** Sums of debits, by budget. */
  readonly spends: ReadonlyMap<string, { readonly version: bigint; readonly total: Charge }>;
  /** Debits of budgets that renew, with the time of the epoch's charge. */
  readonly debits: ReadonlyMap<string, readonly StoredDebit[]>;
  /** The newest epoch that a contributor of a running total was in, by study. */
  readonly entered: ReadonlyMap<string, bigint>;
  /** Contributors that a study with this name has seen, where it limits new keys. */
  readonly known: ReadonlySet<string>;
  readonly periods: readonly {
    readonly study: string; readonly perMs: number; readonly period: NewKeyPeriod;
  }[];
  /** Contributors with an epoch that they withdrew from and that a late batch of the list names. */
  readonly withdrawn: ReadonlySet<string>;
}

interface StoredDebit extends AmountRow {
  /** Null while the epoch is not charged. */
  readonly at_ms: bigint | null;
}

export const emptyExtras: Extras = {
  excluded: new Map(), spends: new Map(), debits: new Map(), entered: new Map(),
  known: new Set(), periods: [], withdrawn: new Set(),
};

interface Pair {
  readonly study: PostgresFacts;
  readonly contributorId: bigint;
}

const contributorText = `SELECT pair.at, q.from_epoch, s.version, s.rho, s.delta, s.pure,
    e.epoch
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
    AS pair (study_key, contributor_id, budget_id, at)
  LEFT JOIN quarantines AS q
    ON q.study_key = pair.study_key AND q.contributor_id = pair.contributor_id
  LEFT JOIN contributor_spend AS s
    ON s.budget_id = pair.budget_id AND s.contributor_id = pair.contributor_id
  LEFT JOIN running_participations AS e
    ON e.study_key = pair.study_key AND e.contributor_id = pair.contributor_id`;

const debitsText = `SELECT d.budget_id, d.contributor_id, d.rho, d.delta, d.pure, charge.at_ms
  FROM (SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[])
    AS pair (budget_id, contributor_id)) AS pair
  JOIN contributor_debits AS d USING (budget_id, contributor_id)
  JOIN epochs USING (epoch_key)
  LEFT JOIN ledger AS charge ON charge.study_key = epochs.study_key
    AND charge.epoch = epochs.epoch AND charge.kind = 'charged'`;

const withdrawnText = `SELECT e.study_key, e.epoch, w.contributor_id
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS pair (study_key, epoch, contributor_id)
  JOIN epochs AS e ON e.study_key = pair.study_key AND e.epoch = pair.epoch
  JOIN withdrawals AS w ON w.epoch_key = e.epoch_key AND w.contributor_id = pair.contributor_id`;

const knownText = `SELECT DISTINCT s.name, pair.contributor_id
  FROM unnest($1::text[], $2::bigint[]) AS pair (name, contributor_id)
  JOIN studies AS s USING (name)
  JOIN replay AS r ON r.study_key = s.study_key AND r.contributor_id = pair.contributor_id
  WHERE s.document::jsonb ->> 'participation' = 'public'`;

/** Reads the facts that the studies of a list need besides windows. Most need none. */
export async function readExtras(
  session: Session, windows: readonly Window[], facts: ReadonlyMap<string, PostgresFacts>,
  batches: readonly AdmissionRequest[] = [],
): Promise<Extras> {
  const withdrawn = await readWithdrawn(session, windows, batches, facts);
  const studies = new Map([...facts.values()].map((study) => [study.studyKey, study]));
  const needs = [...studies.values()].some(({ excludes, own, rate }) =>
    excludes || own !== null || rate !== null);
  if (!needs) return { ...emptyExtras, withdrawn };
  const pairs = windows.filter(({ contributorId }) => contributorId !== 0n)
    .map(({ studyKey, contributorId }) => ({ study: studies.get(studyKey)!, contributorId }));
  return {
    ...await readContributors(session, pairs), ...await readDebits(session, pairs),
    ...await readNewKeys(session, pairs, [...studies.values()]), withdrawn,
  };
}

/** Most lists have no late batch, and ask nothing. */
async function readWithdrawn(
  session: Session, windows: readonly Window[], batches: readonly AdmissionRequest[],
  facts: ReadonlyMap<string, PostgresFacts>,
): Promise<ReadonlySet<string>> {
  const late = new Map<bigint, bigint>();
  for (const { studyId, epoch } of batches) {
    const { studyKey = 0n, open = null } = facts.get(studyId) ?? {};
    if (open !== null && epoch === open.epoch - 1n) late.set(studyKey, epoch);
  }
  if (late.size === 0) return new Set();
  const asked = windows.filter(({ studyKey, contributorId }) =>
    contributorId !== 0n && late.has(studyKey));
  const rows = await session.text<{
    readonly study_key: bigint; readonly epoch: bigint; readonly contributor_id: bigint;
  }>(withdrawnText, [
    int8Array(asked.map(({ studyKey }) => studyKey)),
    int8Array(asked.map(({ studyKey }) => late.get(studyKey)!)),
    int8Array(asked.map(({ contributorId }) => contributorId)),
  ]);
  return new Set(rows.map((row) =>
    `${pairName(row.study_key, row.contributor_id)} ${row.epoch}`));
}

async function readContributors(
  session: Session, pairs: readonly Pair[],
): Promise<Pick<Extras, 'excluded' | 'spends' | 'entered'>> {
  const excluded = new Map<string, bigint>();
  const spends = new Map<string, { version: bigint; total: Charge }>();
  const entered = new Map<string, bigint>();
  const found = { excluded, spends, entered };
  const asked = pairs.filter(({ study: { excludes, own } }) => excludes || own !== null);
  if (asked.length === 0) return found;
  interface Row extends AmountRow {
    readonly at: bigint;
    readonly from_epoch: bigint | null;
    readonly version: bigint | null;
    readonly epoch: bigint | null;
  }
  const rows = await session.text<Row>(contributorText, [
    int8Array(asked.map(({ study }) => study.studyKey)),
    int8Array(asked.map(({ contributorId }) => contributorId)),
    int8Array(asked.map(({ study }) => study.own?.budgetId ?? 0n)),
  ]);
  for (const row of rows) {
    const { study, contributorId } = asked[Number(row.at) - 1]!;
    const name = pairName(study.studyKey, contributorId);
    if (row.from_epoch !== null) excluded.set(name, row.from_epoch);
    if (row.epoch !== null) entered.set(name, row.epoch);
    if (row.version === null) continue;
    const spent = { version: row.version, total: spendOf(row) };
    spends.set(pairName(study.own!.budgetId, contributorId), spent);
  }
  return found;
}

async function readDebits(
  session: Session, pairs: readonly Pair[],
): Promise<Pick<Extras, 'debits'>> {
  const debits = new Map<string, StoredDebit[]>();
  const asked = pairs.filter(({ study }) => (study.own?.windowMs ?? null) !== null);
  if (asked.length === 0) return { debits };
  type Row = StoredDebit & { readonly budget_id: bigint; readonly contributor_id: bigint };
  const rows = await session.text<Row>(debitsText, [
    int8Array(asked.map(({ study }) => study.own!.budgetId)),
    int8Array(asked.map(({ contributorId }) => contributorId)),
  ]);
  for (const row of rows) {
    const name = pairName(row.budget_id, row.contributor_id);
    debits.set(name, [...debits.get(name) ?? [], row]);
  }
  return { debits };
}

async function readNewKeys(
  session: Session, pairs: readonly Pair[], studies: readonly PostgresFacts[],
): Promise<Pick<Extras, 'known' | 'periods'>> {
  const names = new Set(studies.flatMap(({ rate }) => (rate === null ? [] : [rate.study])));
  if (names.size === 0) return { known: new Set(), periods: [] };
  const asked = pairs.filter(({ study }) => study.rate !== null);
  const known = await session.text<{ name: string; contributor_id: bigint }>(knownText, [
    textArray(asked.map(({ study }) => study.rate!.study)),
    int8Array(asked.map(({ contributorId }) => contributorId)),
  ]);
  interface Row {
    readonly study_name: string;
    readonly per_ms: bigint;
    readonly from_ms: bigint;
    readonly keys: bigint;
  }
  const periods = await session.text<Row>(
    'SELECT study_name, per_ms, from_ms, keys FROM new_keys WHERE study_name = ANY ($1::text[])',
    [textArray([...names])]);
  return {
    known: new Set(known.map((row) => pairName(row.name, row.contributor_id))),
    periods: periods.map((row) => ({
      study: row.study_name, perMs: Number(row.per_ms),
      period: { fromMs: Number(row.from_ms), keys: Number(row.keys) },
    })),
  };
}
