import { calm, noFaults, rough, type FaultCounts, type FaultRates } from '../faults.js';

/** What happens to several servers and their database, beside what happens to one server. */
export const clusterFaultKinds = [
  'node-crash', 'node-stop', 'node-frozen', 'long-frozen', 'node-clock-off', 'database-restart',
  'request-lost', 'answer-lost', 'news-lost', 'slow-database', 'lead-taken',
  'slice-frozen', 'slice-taken-over', 'slice-lost',
] as const;

/** How often each happened. */
export type ClusterCounts = FaultCounts & Record<(typeof clusterFaultKinds)[number], number>;

export const noClusterFaults = (): ClusterCounts => ({
  ...noFaults(),
  ...Object.fromEntries(clusterFaultKinds.map((kind) => [kind, 0])),
} as ClusterCounts);

export interface ClusterRates extends FaultRates {
  /** Per call of the database. */
  readonly requestLost: number;
  readonly answerLost: number;
  readonly slowDatabase: number;
  /** Per message of the database to a node that listens. */
  readonly newsLost: number;
  /** Per start of a node: its clock is so far off that it must lead nothing. */
  readonly clockOff: number;
  /** Per claim of a slice: the node freezes soon after, for longer than its claim. */
  readonly sliceFrozen: number;
  /** Mean virtual time between two of the kind, in milliseconds; Infinity for never. */
  readonly freezeEveryMs: number;
  readonly databaseRestartEveryMs: number;
}

export const calmCluster: ClusterRates = {
  ...calm, requestLost: 0, answerLost: 0, slowDatabase: 0, newsLost: 0, clockOff: 0,
  sliceFrozen: 0, freezeEveryMs: Infinity, databaseRestartEveryMs: Infinity,
};

export const roughCluster: ClusterRates = {
  ...rough, counting: 0.5, sliceFrozen: 0.2, crashEveryMs: 1_500, stopEveryMs: 2_000,
  requestLost: 0.01, answerLost: 0.02, slowDatabase: 0.03, newsLost: 0.2, clockOff: 0.15,
  freezeEveryMs: 400, databaseRestartEveryMs: 3_000,
};

/** The lease of a leader, in virtual milliseconds: an epoch is 1,000. */
export const leaseMs = 600;
