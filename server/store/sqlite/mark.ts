import type { Charge } from '../../../src/privacy/accounting/budget.js';
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, StorageError } from '../../../src/base/errors.js';
import { parseAmount, parsePure } from '../../../src/privacy/accounting/amount.js';
import { createDraft } from '../../base/owned-files.js';
import { syncFolder } from '../../base/secret-files.js';
import type { BudgetSpec } from '../contract.js';
import type { AmountRow } from '../rules/spend.js';

/**
 * The high-water mark: a small file beside the database that says how far the ledger and the logs
 * had come. A start compares the database with it (rollback.ts).
 *
 * Each charge and each stored release takes these steps:
 * - the new mark is written to a draft and synced;
 * - the database commits;
 * - a rename replaces the mark by the draft, and the folder is synced;
 * - the caller gets its answer.
 *
 * Claim 1: the mark is never ahead of the database, so an honest start is never refused. The rename
 * comes after the commit is durable, and a draft is never read.
 * Claim 2: the mark has every charge whose noise was drawn, and every published release: both
 * happen after the answer. If a crash keeps a charge out of the mark, no noise was drawn for it.
 * Claim 3: a crash leaves the old mark or the new one, complete: the draft was synced before the
 * rename.
 *
 * A full disk fails the draft, before the commit, so nothing is charged then. Cost: two syncs and a
 * file of about 2 KB per study, for each charge and each release.
 */
export interface Mark {
  /** The newest entry of the ledger; 0 when there is none. */
  readonly ledger: bigint;
  /** Budgets that the studies charge. */
  readonly budgets: readonly BudgetSpec[];
  /** Every study that was ever charged. */
  readonly studies: readonly StudyMark[];
}

export interface StudyMark {
  readonly studyId: string;
  readonly name: string;
  /** Canonical JSON of the study's facts. */
  readonly document: string;
  readonly budgetKey: string;
  /** The newest epoch that was charged. */
  readonly epoch: bigint;
  /**
   * Everything charged so far, whether or not it still counts in the budget's window. The marks of
   * older programs have no pure amounts.
   */
  readonly charged: Omit<Charge, 'pure'> & Partial<Pick<Charge, 'pure'>>;
  readonly releases: number;
  /** SHA-512 of the newest release, hex; 128 zeros when there is none. */
  readonly digest: string;
}

export const markFile = (directory: string): string => join(directory, 'keelson.mark');
const draftFile = (directory: string): string => `${markFile(directory)}.draft`;

/** Changes whenever the meaning of the file changes. */
const format = 'keelson mark 2';
/** The marks of older programs, without pure amounts. */
const formatBefore = 'keelson mark 1';

/** Releases of all studies together. */
export const releasesIn = (mark: Mark): number =>
  mark.studies.reduce((sum, { releases }) => sum + releases, 0);

/**
 * Writes a mark that is not in force yet.
 * @throws StorageError when the disk is full or fails.
 */
export function draftMark(directory: string, mark: Mark): void {
  try {
    const file = createDraft(draftFile(directory));
    try {
      writeSync(file, encodeMark(mark));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw markFailure(directory, cause);
  }
}

/** Puts the draft in the place of the mark, durably. @throws StorageError when the disk fails. */
export function publishMark(directory: string): void {
  try {
    renameSync(draftFile(directory), markFile(directory));
    syncFolder(markFile(directory));
  } catch (cause) {
    // The transaction is committed, so the same call must not be made again.
    throw markFailure(directory, cause, false);
  }
}

/**
 * Null when there is none.
 * @throws StorageError when the file is damaged, or was written by a newer program.
 */
export function readMark(directory: string): Mark | null {
  let text: string;
  try {
    text = readFileSync(markFile(directory), 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw markFailure(directory, cause);
  }
  return decodeMark(text, markFile(directory));
}

function markFailure(directory: string, cause: unknown, mayRepeat = true): StorageError {
  const reason = codeOf(cause);
  const remedy = reason === 'ENOSPC'
    ? 'free space on the disk of the data folder' : 'check its disk and who may write there';
  return new StorageError(`${markFile(directory)} cannot be read or written (${reason}): ${remedy}`,
    'storage-failed', { retryable: mayRepeat && reason === 'ENOSPC', details: { reason }, cause });
}

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex');

/**
 * Three lines: the format, the SHA-256 of the third line, and the mark as JSON. Whole numbers in
 * the JSON are text.
 */
function encodeMark(mark: Mark): string {
  const body = JSON.stringify(mark,
    (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return `${format}\n${digestOf(body)}\n${body}\n`;
}

/** JSON has an amount as its text. */
type MarkedRow = Omit<AmountRow, 'pure'> & Partial<Pick<AmountRow, 'pure'>>;

function chargedOf({ rho, delta, pure }: MarkedRow): StudyMark['charged'] {
  return {
    rho: parseAmount(rho), delta: parseAmount(delta),
    ...(pure !== undefined && { pure: parsePure(pure) }),
  };
}

function decodeMark(text: string, path: string): Mark {
  const [kind, digest, body = ''] = text.split('\n');
  const isKnown = kind === format || kind === formatBefore;
  if (!isKnown && kind?.startsWith('keelson mark ')) {
    throw new StorageError(
      `${path} was written by a newer keelson: use that one`, 'schema-too-new');
  }
  if (!isKnown || digest !== digestOf(body)) {
    throw new StorageError(`${path} is damaged: put a copy of it back. If there is no copy, `
      + 'move it away, and follow the steps for a database that was restored without its mark '
      + '(docs/operating/operations.md)');
  }
  // The digest is right, so this program wrote the body.
  const read = JSON.parse(body) as {
    readonly ledger: string;
    readonly budgets: readonly (Omit<BudgetSpec, 'rhoCap' | 'deltaCap'>
      & { readonly rhoCap: string; readonly deltaCap: string })[];
    readonly studies: readonly (Omit<StudyMark, 'epoch' | 'charged'> & {
      readonly epoch: string;
      readonly charged: MarkedRow;
    })[];
  };
  return {
    ledger: BigInt(read.ledger),
    budgets: read.budgets.map((budget) =>
      ({ ...budget, rhoCap: parseAmount(budget.rhoCap), deltaCap: parseAmount(budget.deltaCap) })),
    studies: read.studies.map((study) => ({
      ...study, epoch: BigInt(study.epoch),
      charged: chargedOf(study.charged),
    })),
  };
}
