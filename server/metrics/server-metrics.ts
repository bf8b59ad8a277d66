import type { StudyHub, StudyView } from '../studies/contract.js';
import type { StoreHealth } from '../store/contract.js';
import {
  createMetricRegistry, type Counter, type Histogram, type Labels, type MetricRegistry, type Sample,
} from './metrics.js';

/**
 * Counts of the listener, over all sockets. They are plain numbers, because every frame changes
 * them.
 */
export interface Totals {
  sockets: number;
  channels: number;
  subscriptions: number;
  /** Batches that are passed to the hub and not settled. */
  queuedBatches: number;
  queuedBytes: number;
}

/** Everything the server counts. For the operator only: exact participation is not public. */
export interface ServerMetrics {
  readonly registry: MetricRegistry;
  readonly totals: Totals;
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

/** Creates the counters. `observeServer` adds gauges that are read from elsewhere on demand. */
export function createServerMetrics(
  registry: MetricRegistry = createMetricRegistry(),
): ServerMetrics {
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
    accepted: registry.counter('keelson_batches_accepted_total', 'Batches journalled, by study.'),
    duplicates: registry.counter(
      'keelson_batches_duplicate_total', 'Batches that were journalled before, by study.',
    ),
    refused:
      registry.counter('keelson_refused_total', 'Batches and requests refused, by study and code.'),
    releasesSent: registry.counter('keelson_releases_sent_total', 'Releases sent to subscribers.'),
    releasesSkipped:
      registry.counter('keelson_releases_skipped_total', 'Releases that slow subscribers missed.'),
    socketsClosed: registry.counter(
      'keelson_sockets_closed_total', 'Connections closed by the server, by reason.',
    ),
    ackSeconds: registry.histogram(
      'keelson_ack_seconds', 'From a batch to its verdict, in seconds.', ackBounds,
    ),
  };
}

/** Adds the states of studies and the latencies of the store. */
export function observeServer(
  registry: MetricRegistry,
  hub: StudyHub,
  storeHealth: (() => Promise<StoreHealth>) | undefined,
): void {
  const perStudy = (value: (study: StudyView) => number) => (): Sample[] =>
    hub.studies().map((study) => ({ labels: labelsOf(study), value: value(study) }));
  registry.gauge(
    'keelson_study_epoch', 'The open epoch, 0 when none.', perStudy((study) => Number(study.epoch)),
  );
  registry.gauge(
    'keelson_study_releases', 'Releases in the log.', perStudy((study) => study.releaseCount),
  );
  registry.gauge('keelson_study_open', '1 while the study is open.', perStudy(({ state }) =>
    Number(state === 'open')));
  registry.gauge('keelson_epoch_contributors', 'Contributors in the open epoch.', () =>
    epochContributors(hub));
  registry.gauge('keelson_studies_refused', 'Studies that are configured and do not run.',
    () => [{ value: hub.refused?.().length ?? 0 }]);
  const overloaded = (): Sample[] => [{ value: Number(hub.overloaded()) }];
  registry.gauge('keelson_overloaded', '1 while the journal is past its bound.', overloaded);
  if (storeHealth === undefined) return;
  registry.gauge(
    'keelson_store_commit_seconds', 'Recent commits of the store, in seconds.', async () => {
      const health = await storeHealth();
      return [
        { labels: { quantile: '0.5' }, value: health.commitSecondsMedian },
        { labels: { quantile: '0.99' }, value: health.commitSeconds99 },
      ];
    },
  );
  registry.gauge('keelson_store_bytes', 'Bytes of the store on disk.', async () => {
    const health = await storeHealth();
    return [
      { labels: { file: 'main' }, value: health.fileBytes },
      { labels: { file: 'wal' }, value: health.walBytes },
    ];
  });
}

/** Versions of one study share its name, so the id distinguishes them. */
function labelsOf(study: StudyView): Labels {
  return { study: study.name, id: study.studyId.slice(0, 16) };
}

async function epochContributors(hub: StudyHub): Promise<Sample[]> {
  const samples = await Promise.all(
    hub.studies().map(async (study) => {
      const progress = await hub.progress(study.studyId);
      return progress === null ? [] : [{ labels: labelsOf(study), value: progress.contributors }];
    }),
  );
  return samples.flat();
}
