import { closeSync, fsyncSync, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { inspectStore } from '../../server/store/sqlite/inspect.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import { budgetFindings } from './budgets.js';
import { atLeast, bytesText, fail, ok, warn, type Finding } from './finding.js';
import { secretsFindings } from './secrets.js';

const hourMs = 3_600_000;

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
    ...secretsFindings('data folder', directory),
    spaceFinding(directory),
    ...(mayWrite ? [syncFinding(directory, monotonicMs)] : []),
    fault === undefined ? ok('database', 'whole') : fail('database', fault,
      'stop the server, keep the folder, and restore the newest backup'),
    hasMark ? ok('high-water mark', 'there') : warn('high-water mark', 'missing',
      'start the server once; if it refuses, an older copy of the folder was restored'),
    ...await budgetFindings(await openSqliteReader(directory)),
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
