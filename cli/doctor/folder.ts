import {
  closeSync, fsyncSync, lstatSync, openSync, readdirSync, statfsSync, statSync, unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import { inspectStore } from '../../server/store/sqlite/inspect.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import type { LedgerBalance } from '../../server/store/contract.js';
import { atLeast, bytesText, fail, ok, warn, type Finding } from './finding.js';

const hourMs = 3_600_000;
const secrets = ['server.key', 'operator.token', 'series.key'] as const;

/** Options of the checks of a folder. */
export interface FolderOptions {
  readonly nowMs: number;
  readonly monotonicMs: () => number;
  /** Writes and removes a small file, to time how long the disk takes. */
  readonly mayWrite: boolean;
}

/**
 * Checks of a data folder, beside its server or without one. Changes nothing unless `mayWrite`.
 * @throws StorageError when there is no store there, or its schema is another version.
 */
export async function folderFindings(
  directory: string, { nowMs, monotonicMs, mayWrite }: FolderOptions,
): Promise<Finding[]> {
  const { faults, newestMs, hasMark } = inspectStore(directory);
  const [fault] = faults;
  return [
    clockFinding(nowMs, newestMs),
    folderFinding(directory),
    ownerFinding(directory),
    ...secrets.flatMap((name) => secretFinding(join(directory, name)) ?? []),
    spaceFinding(directory),
    ...(mayWrite ? [syncFinding(directory, monotonicMs)] : []),
    fault === undefined ? ok('database', 'whole') : fail('database', fault,
      'stop the server, keep the folder, and restore the newest backup'),
    hasMark ? ok('high-water mark', 'there') : warn('high-water mark', 'missing',
      'start the server once; if it refuses, an older copy of the folder was restored'),
    ...await budgetFindings(directory),
  ];
}

function clockFinding(nowMs: number, newestMs: number | null): Finding {
  const now = new Date(nowMs).toISOString();
  if (newestMs !== null && nowMs < newestMs - hourMs) {
    return fail('clock', `${now}, before ${new Date(newestMs).toISOString()} in the store`,
      'set the clock, and run a time service such as chrony');
  }
  return ok('clock', now);
}

function folderFinding(directory: string): Finding {
  const mode = statSync(directory).mode & 0o777;
  const text = `mode ${mode.toString(8).padStart(4, '0')}`;
  if ((mode & 0o022) !== 0) {
    return fail('data folder', `${text}: others can write to it`, `chmod go-w ${directory}`);
  }
  return (mode & 0o077) === 0 ? ok('data folder', text)
    : warn('data folder', `${text}: others can read it`, `chmod 700 ${directory}`);
}

/** A file of another user, such as one that root has put there, may be closed to the server. */
function ownerFinding(directory: string): Finding {
  const { uid } = statSync(directory);
  const others = readdirSync(directory).filter((name) => {
    const found = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return found !== undefined && found.uid !== uid;
  }).sort();
  if (others.length === 0) return ok('owner', `user ${uid}, of every file`);
  return fail('owner', `the folder belongs to user ${uid}, and to others: ${others.join(', ')}`,
    `give all of it to the user that runs the server: chown -R USER ${directory}`);
}

function secretFinding(path: string): Finding | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return (found.mode & 0o077) === 0 ? ok(path, `mode ${mode}`)
    : fail(path, `mode ${mode}: others can read it`,
      `chmod 600 ${path}, and replace the secret if somebody may have read it`);
}

function spaceFinding(directory: string): Finding {
  const { bavail, blocks, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const percent = blocks === 0 ? 0 : Math.floor((100 * bavail) / blocks);
  return atLeast('disk space', `${bytesText(free)} free, ${percent} %`, free, {
    warnBelow: 2 * 2 ** 30, failBelow: 256 * 2 ** 20,
    remedy: 'make room: with a full disk nothing is acknowledged and no answer is released',
  });
}

const syncs = 20;

/** The median time of a small write that is made durable: an ack waits for one. */
function syncFinding(directory: string, monotonicMs: () => number): Finding {
  const path = join(directory, `doctor.${process.pid}.tmp`);
  const file = openSync(path, 'wx', 0o600);
  try {
    const times = Array.from({ length: syncs }, () => {
      const from = monotonicMs();
      writeSync(file, new Uint8Array(4096));
      fsyncSync(file);
      return monotonicMs() - from;
    }).sort((left, right) => left - right);
    const median = times[syncs / 2]!;
    const text = `${median.toFixed(1)} ms for a durable write`;
    if (median > 50) {
      return warn('disk', text, 'acknowledgements will be slow: use a local disk, best an SSD');
    }
    return ok('disk', text);
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}

/** Least share of a budget that must be left for it to be called well. */
const leftLeast = 0.1;

async function budgetFindings(directory: string): Promise<Finding[]> {
  const reader = await openSqliteReader(directory);
  try {
    return (await reader.balances()).map(budgetFinding);
  } finally {
    await reader.close();
  }
}

/** @param balance as the ledger has it. Under contributor scope it bounds everybody's spending. */
export function budgetFinding(balance: LedgerBalance): Finding {
  const check = `budget ${balance.key}`;
  const [rho, delta] = [
    share(balance.rhoSpent, balance.rhoReserved, balance.rhoCap),
    share(balance.deltaSpent, balance.deltaReserved, balance.deltaCap),
  ];
  const { pureSpent, pureReserved, pureCap } = balance;
  const spent = Math.min(Math.max(rho, delta), pureSpent === null || pureReserved === null
    ? Infinity : share(pureSpent, pureReserved, pureCap));
  const text = `${Math.floor(100 * spent)} % spent or reserved`;
  if (balance.scope === 'contributor' || spent <= 1 - leftLeast) return ok(check, text);
  return warn(check, text, balance.windowMs === undefined
    ? 'the study ends when it is spent: plan the next study, with a budget of its own'
    : 'the study waits for the window: ask less often, or for less precise answers');
}

const share = (spent: Amount, reserved: Amount, cap: Amount): number => {
  const most = amountToNumber(cap);
  return most === 0 ? 0 : (amountToNumber(spent) + amountToNumber(reserved)) / most;
};
