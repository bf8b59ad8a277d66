import type { ErrorCode, WireCode } from '../src/base/error-codes.js';

/** Number of recent acknowledgement times from which quantiles are computed. */
const latenciesKept = 8_192;

/** Counts of a fleet since its start. */
export interface FleetStatistics {
  /** Contributions passed to a session. */
  readonly sent: number;
  readonly accepted: number;
  /** Contributions refused for good, or failed before they were sent, by code. */
  readonly refused: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Sessions that the server ended while their study continued, by code. */
  readonly turnedAway: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Contributions that the server deferred and the client sent again later, by code. */
  readonly putOff: Readonly<Partial<Record<WireCode, number>>>;
  /**
   * Contributors that were not connected, or were busy with the epoch before, for a whole epoch.
   */
  readonly missed: number;
  /**
   * Sessions whose keys an earlier run used. They leave out the epoch that was open when they
   * connected.
   */
  readonly usedBefore: number;
  /** Abuses of the `malformed` attack. */
  readonly abuses: number;
  /** Refusals and rejections of these abuses, by code. */
  readonly abusesRefused: Readonly<Partial<Record<WireCode, number>>>;
  readonly connections: number;
  readonly reconnections: number;
  /** Channels that are ready now, with a proven server. */
  readonly ready: number;
  /** Time until recent contributions were settled, in milliseconds; NaN before the first. */
  readonly latencyMs: { readonly median: number; readonly p99: number };
}

/** The running counts behind `FleetStatistics`. */
export class Counters {
  sent = 0;
  accepted = 0;
  missed = 0;
  usedBefore = 0;
  abuses = 0;
  reconnections = 0;
  readonly refused: Partial<Record<ErrorCode, number>> = {};
  readonly turnedAway: Partial<Record<ErrorCode, number>> = {};
  readonly putOff: Partial<Record<WireCode, number>> = {};
  readonly abusesRefused: Partial<Record<WireCode, number>> = {};
  private readonly latencies = new Float64Array(latenciesKept);
  private measured = 0;

  count<C extends string>(table: Partial<Record<C, number>>, code: C): void {
    table[code] = (table[code] ?? 0) + 1;
  }

  measure(milliseconds: number): void {
    this.latencies[this.measured % latenciesKept] = milliseconds;
    this.measured += 1;
  }

  snapshot(connections: number, ready: number): FleetStatistics {
    const { sent, accepted, missed, usedBefore, abuses, reconnections } = this;
    const sorted = this.latencies.slice(0, Math.min(this.measured, latenciesKept)).sort();
    const quantile = (share: number): number =>
      sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
    return {
      sent,
      accepted,
      refused: { ...this.refused },
      turnedAway: { ...this.turnedAway },
      putOff: { ...this.putOff },
      missed,
      usedBefore,
      abuses,
      abusesRefused: { ...this.abusesRefused },
      connections,
      reconnections,
      ready,
      latencyMs: { median: quantile(0.5), p99: quantile(0.99) },
    };
  }
}
