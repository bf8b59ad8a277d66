import { createHash } from 'node:crypto';
import type { Amount } from '../../src/privacy/accounting/amount.js';
import type {
  AdmissionRequest, AdmissionResult, BudgetSpec, OpenEpoch, Store, StoreRelease, StudyRegistration,
} from '../../server/store/contract.js';

/** Values for store tests: short names become valid ids, and everything can be overridden. */
export const idOf = (name: string): string => createHash('sha256').update(name).digest('hex');
export const amount = (units: number | bigint): Amount => BigInt(units) as Amount;

export function budget(overrides: Partial<BudgetSpec> = {}): BudgetSpec {
  return {
    key: 'study:s', scope: 'study', rule: { rule: 'zcdp' }, rhoCap: amount(1_000),
    deltaCap: amount(1_000), epsilon: 1, delta: 1e-6, ...overrides,
  };
}

export function registration(overrides: Partial<StudyRegistration> = {}): StudyRegistration {
  return {
    studyId: idOf('s'), name: 's', document: '{"study":"s"}', budget: budget(), nowMs: 1_000,
    ...overrides,
  };
}

export function epochOf(epoch: number | bigint, overrides: Partial<OpenEpoch> = {}): OpenEpoch {
  return {
    studyId: idOf('s'), epoch: BigInt(epoch), opensAtMs: 2_000, closesAtMs: 3_000, rho: amount(100),
    delta: amount(10), assignmentKey: new Uint8Array(32).fill(7),
    workSeed: new Uint8Array(32).fill(9), rowsMax: 4, late: 'next', ...overrides,
  };
}

/** A batch whose body names its content, so that another `content` is another digest. */
export function batch(
  contributor: string, sequence: number | bigint, epoch: number | bigint,
  overrides: Partial<AdmissionRequest> & { content?: string } = {},
): AdmissionRequest {
  const { content, ...rest } = overrides;
  const body = rest.body ?? Buffer.from(content ?? `${contributor}/${sequence}`);
  return {
    studyId: idOf('s'), contributor: idOf(contributor), sequence: BigInt(sequence),
    epoch: BigInt(epoch), last: false, rows: 1, peopleMax: 1_000_000,
    digest: new Uint8Array(createHash('sha512').update(body).digest()), body,
    signature: new Uint8Array(64).fill(3), ...rest,
  };
}

export function release(
  index: number, epoch: number, overrides: Partial<StoreRelease> = {},
): StoreRelease {
  const body = Buffer.from(`release ${epoch}`);
  return {
    studyId: idOf('s'), index, epoch: BigInt(epoch), body: new Uint8Array(body),
    signature: new Uint8Array(64).fill(1), digest: createHash('sha512').update(body).digest('hex'),
    nowMs: 9_000, ...overrides,
  };
}

/** Takes an open epoch through to its stored release. */
export async function finishEpoch(
  store: Store, epoch: number, index: number, studyId = idOf('s'),
): Promise<void> {
  await store.beginClose(studyId, BigInt(epoch));
  await store.chargeEpoch(studyId, BigInt(epoch), `["events ${epoch}"]`, 8_000);
  await store.storeRelease(release(index, epoch, { studyId }));
}

/** Verdicts in a compact form: `accepted@3!` is accepted in epoch 3 and complete. */
export async function verdicts(
  store: Store, batches: readonly AdmissionRequest[],
): Promise<string[]> {
  return (await store.admit(batches)).map(resultText);
}

export function resultText({ verdict, code, epoch, complete }: AdmissionResult): string {
  const counted = epoch === 0n ? '' : `@${epoch}`;
  return `${verdict}${code === undefined ? '' : `:${code}`}${counted}${complete ? '!' : ''}`;
}

/** Takes away what step 12 of SQLite's schema adds, as in a file of an older program. */
export const withoutPure = 'ALTER TABLE budgets DROP COLUMN pure_cap; '
  + 'ALTER TABLE budgets DROP COLUMN pure_spent; '
  + 'ALTER TABLE budgets DROP COLUMN pure_reserved; ALTER TABLE epochs DROP COLUMN pure; '
  + 'ALTER TABLE ledger DROP COLUMN pure; ALTER TABLE contributor_spend DROP COLUMN pure; '
  + 'ALTER TABLE contributor_debits DROP COLUMN pure;';
