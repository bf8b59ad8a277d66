import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Figures of this process, as Prometheus names them. */
export interface ProcessFigures {
  /** Seconds of processor time, over all threads. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Unix time in seconds. */
  readonly startSeconds: number;
  /** The version of Node.js. */
  readonly nodeVersion: string;
  /** Null where the system has no list of them: elsewhere than on Linux. */
  readonly openFiles: number | null;
}

export interface ProcessWatch {
  figures(): ProcessFigures;
  /** The lateness of the main thread's timers since the last call: 99 % quantile. */
  loopDelaySeconds(): number;
  stop(): void;
}

/** Watches the main thread from now on. */
export function watchProcess(): ProcessWatch {
  const resolutionMs = 20;
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const startSeconds = Math.round(performance.timeOrigin) / 1000;
  return {
    figures() {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed } = process.memoryUsage();
      return {
        cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed, startSeconds,
        nodeVersion: process.version, openFiles: openFiles(),
      };
    },
    loopDelaySeconds() {
      // The monitor measures whole intervals, so its own resolution comes off.
      const late = delays.count === 0 ? 0 : delays.percentile(99) / 1e9 - resolutionMs / 1000;
      delays.reset();
      return Math.max(0, late);
    },
    stop: () => void delays.disable(),
  };
}

function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}
