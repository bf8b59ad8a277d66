import type { Io } from './io.js';

/** A bar on a terminal's standard error; nothing anywhere else. */
export interface Progress {
  /** @param total - undefined when it is not known: then only the amount is shown. */
  update(done: number, total: number | undefined): void;
  /** Wipes the bar. */
  end(): void;
}

const showAfterMs = 1000;
const redrawMs = 100;
const barWidth = 30;

/** Shows itself only once the work has taken a second. Counts bytes. */
export function startProgress(label: string, io: Io): Progress {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  const startedMs = io.monotonicMs();
  let drawnMs = startedMs + showAfterMs - redrawMs;
  let isShown = false;
  return {
    update(done, total) {
      const nowMs = io.monotonicMs();
      if (nowMs - drawnMs < redrawMs) return;
      drawnMs = nowMs;
      isShown = true;
      io.stderr.write(`\r\u001b[2K${label} ${bar(done, total)}`);
    },
    end() {
      if (isShown) io.stderr.write('\r\u001b[2K');
      isShown = false;
    },
  };
}

function bar(done: number, total: number | undefined): string {
  const megabytes = `${(done / 1e6).toFixed(1)} MB`;
  if (total === undefined || total === 0) return megabytes;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * barWidth);
  const drawn = '='.repeat(filled).padEnd(barWidth);
  return `[${drawn}] ${Math.floor(100 * share)} % of ${(total / 1e6).toFixed(1)} MB`;
}
