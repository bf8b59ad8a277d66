import { wireCodes } from '../../src/base/error-codes.js';
import {
  createMetricRegistry, type Counter, type Histogram, type Labels, type MetricRegistry,
} from './metrics.js';

/**
 * Counts of the listener, over all sockets. They are plain numbers, because every frame changes
 * them.
 */
export interface Totals {
  sockets: number;
  channels: number;
  subscriptions: number;
  /** Batches that are received and not settled. */
  queuedBatches: number;
  queuedBytes: number;
}

/** Everything the server counts. For the operator only: exact participation is not public. */
export interface ServerMetrics {
  readonly registry: MetricRegistry;
  readonly totals: Totals;
  /** Received batches by form: see `batchForms`. */
  readonly batches: Counter;
  /** By study. */
  readonly accepted: Counter;
  readonly duplicates: Counter;
  /** By study (empty when none) and code. */
  readonly refused: Counter;
  readonly releasesSent: Counter;
  /** Releases that slow subscribers missed. */
  readonly releasesSkipped: Counter;
  /** By reason. */
  readonly socketsClosed: Counter;
  /** From the last byte of a batch to its verdict, in seconds. */
  readonly ackSeconds: Histogram;
}

const ackBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Why the server closes a connection. An error that ws finds adds its own code, WS_ERR_... */
export type CloseReason =
  | 'address-full' | 'address-rate' | 'badSignature' | 'control-frames' | 'hastySubscribe' | 'idle'
  | 'internal' | 'log-unread' | 'malformed' | 'replaced' | 'server-full' | 'silent' | 'stalled'
  | 'stopping' | 'stray' | 'text' | 'unfinished';

const closeReasons: readonly CloseReason[] = [
  'address-full', 'address-rate', 'badSignature', 'control-frames', 'hastySubscribe', 'idle',
  'internal', 'log-unread', 'malformed', 'replaced', 'server-full', 'silent', 'stalled', 'stopping',
  'stray', 'text', 'unfinished',
];

/**
 * How a batch comes: over a socket signed or encrypted, signed on a channel of HTTP requests, or
 * signed without a channel.
 */
const batchForms = ['signed', 'encrypted', 'http', 'once'] as const;

/**
 * Creates the counters. `observeServer` adds the metrics that are read from elsewhere on demand.
 * @param studies names of the studies, whose counters show 0 from the start.
 */
export function createServerMetrics(
  studies: () => readonly string[] = () => [],
  registry: MetricRegistry = createMetricRegistry(),
): ServerMetrics {
  const byStudy = (): Labels[] => [...new Set(studies())].map((study) => ({ study }));
  const byCode = (): Labels[] => [{ study: '' }, ...byStudy()].flatMap(({ study = '' }) =>
    wireCodes.map((code) => ({ study, code })));
  const totals: Totals = {
    sockets: 0, channels: 0, subscriptions: 0, queuedBatches: 0, queuedBytes: 0,
  };
  const gauges: readonly (readonly [string, string, keyof Totals])[] = [
    ['keelson_sockets', 'Open WebSocket connections.', 'sockets'],
    ['keelson_channels', 'Open contributor channels.', 'channels'],
    ['keelson_subscriptions', 'Open subscriptions.', 'subscriptions'],
    ['keelson_queue_batches', 'Batches received and not yet settled.', 'queuedBatches'],
    ['keelson_queue_bytes', 'Bytes of batches received and not yet settled.', 'queuedBytes'],
  ];
  for (const [name, help, total] of gauges) {
    registry.gauge(name, help, () => [{ value: totals[total] }]);
  }
  return {
    registry,
    totals,
    batches: registry.counter(
      'keelson_batches_received_total', 'Batches received, by form.',
      () => batchForms.map((form) => ({ form })),
    ),
    accepted: registry.counter(
      'keelson_batches_accepted_total', 'Batches journalled, by study.', byStudy,
    ),
    duplicates: registry.counter(
      'keelson_batches_duplicate_total', 'Batches that were journalled before, by study.',
      byStudy,
    ),
    refused:
      registry.counter('keelson_refused_total', 'Batches and requests refused, by study and code.',
        byCode),
    releasesSent: registry.counter('keelson_releases_sent_total', 'Releases sent to subscribers.'),
    releasesSkipped:
      registry.counter('keelson_releases_skipped_total', 'Releases that slow subscribers missed.'),
    socketsClosed: registry.counter(
      'keelson_sockets_closed_total', 'Connections closed by the server, by reason.',
      () => closeReasons.map((reason) => ({ reason })),
    ),
    ackSeconds: registry.histogram(
      'keelson_ack_seconds', 'From a batch to its verdict, in seconds.', ackBounds,
    ),
  };
}
