import type { ErrorCode, WireCode } from '../src/base/error-codes.js';

/** Acknowledgement times that are remembered for quantiles. */
const latenciesKept = 8_192;

/** What a fleet did so far. */
export interface FleetStatistics {
  /** Contributions handed to a session. */
  readonly sent: number;
  readonly accepted: number;
  /** Refused for good, or failed before they left, by code. */
  readonly refused: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Sessions that the server ended while their study went on, by code. */
  readonly turnedAway: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Put off by the server and sent again later, by code. */
  readonly putOff: Readonly<Partial<Record<WireCode, number>>>;
  /** Contributors that had no connection, or were still busy with the epoch before, for a whole epoch. */
  readonly missed: number;
  /** Sessions whose keys an earlier run used: they leave out the epoch that was open when they came. */
  readonly usedBefore: number;
  /** Abuses of the `malformed` attack. */
  readonly abuses: number;
  /** Refusals and rejections that those got, by code. */
  readonly abusesRefused: Readonly<Partial<Record<WireCode, number>>>;
  readonly connections: number;
  readonly reconnections: number;
  /** Channels with a proven server, now. */
  readonly ready: number;
  /** From handing over to settled, in milliseconds, over recent contributions; NaN before the first. */
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
    const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
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
