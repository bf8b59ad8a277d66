import type { Io } from './io.js';
import type { Output } from './output.js';

/** A progress bar on standard error if that is a terminal; otherwise nothing. */
export interface Progress {
  /** @param total - undefined if it is not known. Then only the amount is shown. */
  update(done: number, total: number | undefined): void;
  /** Removes the bar. */
  end(): void;
}

const showAfterMs = 1000;
const redrawMs = 100;
const barWidth = 30;

/** The unit of a bar: `size` counted items make one `name`. */
export interface ProgressUnit {
  readonly name: string;
  readonly size: number;
  readonly digits: number;
}

const megabytes: ProgressUnit = { name: 'MB', size: 1e6, digits: 1 };

const noProgress: Progress = { update: () => {}, end: () => {} };

/** Shows the bar only after one second of work. Counts bytes unless `unit` says otherwise. */
export function startProgress(label: string, io: Io, unit: ProgressUnit = megabytes): Progress {
  if (io.stderr.isTTY !== true) return noProgress;
  const startedMs = io.monotonicMs();
  let drawnMs = startedMs + showAfterMs - redrawMs;
  let isShown = false;
  return {
    update(done, total) {
      const nowMs = io.monotonicMs();
      if (nowMs - drawnMs < redrawMs) return;
      drawnMs = nowMs;
      isShown = true;
      io.stderr.write(`\r\u001b[2K${label} ${bar(done, total, unit)}`);
    },
    end() {
      if (isShown) io.stderr.write('\r\u001b[2K');
      isShown = false;
    },
  };
}

/** Runs `read` with a bar of the bytes that it has read. There is none where JSON is printed. */
export async function whileReading<Result>(
  io: Io, { isJson }: Output, read: (onProgress: Progress['update']) => Promise<Result>,
): Promise<Result> {
  const progress = isJson ? noProgress : startProgress('reading', io);
  try {
    return await read((done, total) => progress.update(done, total));
  } finally {
    progress.end();
  }
}

function bar(
  done: number, total: number | undefined, { name, size, digits }: ProgressUnit,
): string {
  const amount = (count: number): string => `${(count / size).toFixed(digits)} ${name}`;
  if (total === undefined || total === 0) return amount(done);
  const share = Math.min(1, done / total);
  const filled = Math.round(share * barWidth);
  const drawn = '='.repeat(filled).padEnd(barWidth);
  return `[${drawn}] ${Math.floor(100 * share)} % of ${amount(total)}`;
}
