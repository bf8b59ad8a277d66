import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import { releasesThatFit } from '../../src/privacy/accounting/budget.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import { refusalReasons } from '../../src/base/outcome.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { packageVersion } from '../base/place.js';
import type { Clock } from '../base/clock.js';
import type { ProcessFigures, ProcessWatch } from '../base/process-figures.js';
import type { LedgerBalance } from '../store/contract.js';
import type { StoreHealth } from '../store/health.js';
import type { StudyHub, StudyView } from '../studies/contract.js';
import { newestRelease } from '../studies/release/newest-release.js';
import type { NodeHealth } from '../studies/node-health.js';
import type { Labels, MetricRegistry, Sample } from './metrics.js';

/** The sources of a server's figures. */
export interface ObservedServer {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly storeHealth: (() => Promise<StoreHealth>) | undefined;
  readonly process: ProcessWatch;
  /** Number of descriptors that the process may have open. */
  readonly descriptors: number | undefined;
  /** Threads that check signatures; 0: the main thread does. */
  readonly checkThreads: number;
}

const releaseBounds = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/**
 * Adds the metrics that are read on demand: states of studies, their releases and budgets, the
 * store, the process.
 * @returns a function that stops it.
 */
export function observeServer(registry: MetricRegistry, observed: ObservedServer): () => void {
  const { hub, storeHealth, checkThreads } = observed;
  observeStudies(registry, observed);
  const stop = observeReleases(registry, observed);
  observeBudgets(registry, hub);
  registry.gauge('keelson_studies_refused', 'Studies that are configured and do not run.',
    () => [{ value: hub.refused?.().length ?? 0 }]);
  registry.gauge('keelson_store_full',
    '1 while the disk of the store is full: batches are refused, and releases wait.',
    () => [{ value: hub.storeFull?.() === true ? 1 : 0 }]);
  registry.gauge('keelson_overloaded', '1 while the journal is past its bound.',
    () => [{ value: Number(hub.overloaded()) }]);
  registry.gauge('keelson_check_threads', 'Threads that check signatures; 0: the main thread does.',
    () => [{ value: checkThreads }]);
  if (storeHealth !== undefined) observeStore(registry, storeHealth);
  observeNode(registry, hub);
  observeProcess(registry, observed);
  return stop;
}

function observeStudies(registry: MetricRegistry, { hub, clock }: ObservedServer): void {
  const perStudy = (value: (study: StudyView) => number) => (): Sample[] =>
    hub.studies().map((study) => ({ labels: labelsOf(study), value: value(study) }));
  registry.gauge(
    'keelson_study_epoch', 'The open epoch, 0 when none.', perStudy((study) => Number(study.epoch)),
  );
  registry.gauge(
    'keelson_study_epoch_seconds', 'Length of an epoch; 0 where epochs close on a count.',
    perStudy(({ document: { epoch } }) => ('everyMs' in epoch ? epoch.everyMs / 1000 : 0)),
  );
  registry.gauge(
    'keelson_study_epoch_lag_seconds', 'How long the open epoch is past its scheduled close.',
    perStudy(({ closesAtMs }) =>
      (closesAtMs === 0 ? 0 : Math.max(0, clock.nowMs() - closesAtMs) / 1000)),
  );
  registry.gauge(
    'keelson_study_releases', 'Releases in the log.', perStudy((study) => study.releaseCount),
  );
  registry.gauge('keelson_study_open', '1 while the study is open.', perStudy(({ state }) =>
    Number(state === 'open')));
  registry.gauge('keelson_epoch_contributors', 'Contributors in the open epoch.', () =>
    epochContributors(hub));
}

/** Metrics of the newest releases. Counts are of releases since this process began. */
function observeReleases(
  registry: MetricRegistry, { hub, clock, process: watched }: ObservedServer,
): () => void {
  const newest = new Map<string, number>();
  const answers = registry.counter(
    'keelson_answers_total',
    'Answers published since the start, by study, question (`answer` where there is one), '
    + 'outcome and reason (empty unless refused).',
    () => hub.studies().flatMap(possibleAnswers),
  );
  const seconds = registry.histogram(
    'keelson_release_seconds', 'From the scheduled close of an epoch to its release.',
    releaseBounds,
  );
  registry.gauge(
    'keelson_study_last_release_timestamp_seconds',
    'Unix time of the close of the newest released epoch; the start of the process before the '
    + 'first release.',
    () => Promise.all(hub.studies().map(async (study): Promise<Sample> => {
      const atMs = newest.get(study.studyId) ?? await newestCloseMs(hub, study);
      if (atMs !== null) newest.set(study.studyId, atMs);
      const value = atMs === null ? watched.figures().startSeconds : atMs / 1000;
      return { labels: labelsOf(study), value };
    })),
  );
  return hub.onEvent((event) => {
    if (event.kind !== 'release') return;
    const study = hub.study(event.studyId);
    if (study === undefined) return;
    const body = decodeReleaseBody(event.release.body);
    const closedAtMs = Number(body.closedAtMs);
    newest.set(event.studyId, closedAtMs);
    seconds.observe(Math.max(0, clock.nowMs() - closedAtMs) / 1000);
    for (const { question, outcome } of body.answers) {
      const reason = outcome.kind === 'refused' ? outcome.reason : '';
      answers.add(1, answerLabels(study, question, outcome.kind, reason));
    }
  });
}

function answerLabels(study: StudyView, question: string, outcome: string, reason: string): Labels {
  return { ...labelsOf(study), question, outcome, reason };
}

function possibleAnswers(study: StudyView): Labels[] {
  return study.document.questions.flatMap(({ name }) => [
    answerLabels(study, name, 'value', ''),
    ...refusalReasons.map((reason) => answerLabels(study, name, 'refused', reason)),
  ]);
}

async function newestCloseMs(hub: StudyHub, study: StudyView): Promise<number | null> {
  const body = await newestRelease(hub, study);
  return body === null ? null : Number(body.closedAtMs);
}

/** A budget as one reading of the metrics sees it. */
interface BudgetSample {
  readonly labels: Labels;
  readonly epsilonSpent: number;
  readonly epsilonCap: number;
  readonly deltaSpent: number;
  readonly deltaCap: number;
}

/**
 * Study and population budgets come from the ledger. Under contributor scope the ledger's amounts
 * are those of single contributors, so the bound of the newest release replaces them.
 */
function observeBudgets(registry: MetricRegistry, hub: StudyHub): void {
  const read = sharedReading(() => budgets(hub));
  const figures: readonly (readonly [string, string, keyof Omit<BudgetSample, 'labels'>])[] = [
    ['epsilon_spent', 'Epsilon that the budget has spent, at its delta.', 'epsilonSpent'],
    ['epsilon_cap', 'Epsilon that the budget may spend.', 'epsilonCap'],
    ['delta_spent', 'Delta that the budget has spent.', 'deltaSpent'],
    ['delta_cap', 'Delta that releases may spend of the budget.', 'deltaCap'],
  ];
  for (const [name, help, field] of figures) {
    registry.gauge(`keelson_budget_${name}`, help, async () => (await read())
      .map(({ labels, ...budget }) => ({ labels, value: budget[field] })));
  }
  registry.gauge(
    'keelson_study_epochs_left',
    'Epochs that the budget still pays for after the open one; absent under contributor scope.',
    async () => {
      const balances = new Map((await hub.balances()).map((each) => [each.key, each]));
      return hub.studies().flatMap((study): Sample[] => {
        const balance = balances.get(study.budget);
        if (balance === undefined || balance.scope === 'contributor') return [];
        const { count } = releasesThatFit(balance, study.charge);
        return count === Infinity ? [] : [{ labels: labelsOf(study), value: count }];
      });
    },
  );
}

/** All metrics of one scrape ask in the same turn. They share one reading. */
function sharedReading<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  return () => (current ??= read().finally(() => { current = undefined; }));
}

async function budgets(hub: StudyHub): Promise<readonly BudgetSample[]> {
  const shared = (await hub.balances()).filter(({ scope }) => scope !== 'contributor')
    .map(sharedBudget);
  const own = await Promise.all(hub.studies()
    .filter(({ document }) => document.budget.scope === 'contributor')
    .map((study) => contributorBudget(hub, study)));
  return [...shared, ...own.flat()];
}

function sharedBudget(balance: LedgerBalance): BudgetSample {
  const { key, rule, rhoSpent, deltaSpent, deltaCap, pureSpent, delta, epsilon } = balance;
  return {
    labels: { budget: key },
    epsilonSpent: epsilonOfSpent(rule, rhoSpent, deltaSpent, delta, pureSpent),
    epsilonCap: epsilon,
    deltaSpent: amountToNumber(deltaSpent), deltaCap: amountToNumber(deltaCap),
  };
}

async function contributorBudget(hub: StudyHub, study: StudyView): Promise<BudgetSample[]> {
  const body = await newestRelease(hub, study);
  if (body === null) return [];
  const { ledger } = body;
  return [{
    labels: { budget: study.budget },
    epsilonSpent: ledger.epsilonSpent, epsilonCap: ledger.epsilonCap,
    deltaSpent: amountToNumber(ledger.deltaSpent as Amount),
    deltaCap: amountToNumber(ledger.deltaCap as Amount),
  }];
}

function observeStore(registry: MetricRegistry, storeHealth: () => Promise<StoreHealth>): void {
  const health = sharedReading(storeHealth);
  registry.summary(
    'keelson_store_commit_seconds', 'Commits of the store; quantiles over the recent ones.',
    async () => {
      const read = await health();
      return {
        quantiles: { 0.5: read.commitSecondsMedian, 0.99: read.commitSeconds99 },
        sum: read.commitSecondsTotal, count: read.commits,
      };
    },
  );
  registry.countedElsewhere(
    'keelson_store_retries_total',
    'Lists of batches that were judged again, since another server or a close came first.',
    async () => [{ value: (await health()).retries }],
  );
  registry.gauge('keelson_store_bytes', 'Bytes of the store on disk.', async () => {
    const read = await health();
    return [
      { labels: { file: 'main' }, value: read.fileBytes },
      { labels: { file: 'wal' }, value: read.walBytes },
    ];
  });
}

/** For servers that share a store. Elsewhere these metrics have no samples. */
function observeNode(registry: MetricRegistry, hub: StudyHub): void {
  const samples = (read: (node: NodeHealth) => Sample[]) => (): Sample[] => {
    const node = hub.node?.() ?? null;
    return node === null ? [] : read(node);
  };
  const gauges: readonly (readonly [string, string, (node: NodeHealth) => number])[] = [
    ['keelson_studies_led', 'Studies that this server leads.', ({ leads }) => leads.length],
    ['keelson_store_away_seconds', 'How long the shared store has not answered; 0 while it does.',
      ({ storeAwaySeconds }) => storeAwaySeconds ?? 0],
    ['keelson_store_clock_ahead_seconds',
      "How far the clock of the shared store is ahead of this server's.",
      ({ clockAheadMs }) => clockAheadMs / 1_000],
  ];
  for (const [name, help, value] of gauges) {
    registry.gauge(name, help, samples((node) => [{ value: value(node) }]));
  }
  registry.countedElsewhere(
    'keelson_slices_total',
    'Slices of closed epochs that this server has claimed, by outcome: done, failed, or lost to '
    + 'another server.',
    samples(({ slices }) => (['done', 'failed', 'lost'] as const)
      .map((outcome) => ({ labels: { outcome }, value: slices[outcome] }))),
  );
  registry.countedElsewhere(
    'keelson_slice_seconds_total', 'Time that this server took for the slices that are done.',
    samples(({ slices }) => [{ value: slices.secondsTotal }]),
  );
}

function observeProcess(
  registry: MetricRegistry, { process: watched, descriptors }: ObservedServer,
): void {
  const version = packageVersion();
  const figures = sharedReading(async () => watched.figures());
  registry.gauge('keelson_build_info', '1, with the version of Keelson and of Node.js.',
    async () => [{
      labels: { version, node: (await figures()).nodeVersion }, value: 1,
    }]);
  const sample = (value: number | null): Sample[] => (value === null ? [] : [{ value }]);
  registry.countedElsewhere('process_cpu_seconds_total', 'Processor time of all threads.',
    async () => sample((await figures()).cpuSeconds));
  const gauges: readonly (readonly [string, string, (figures: ProcessFigures) => number | null])[] =
    [
      ['process_resident_memory_bytes', 'Memory of the process.', (read) => read.residentBytes],
      ['process_start_time_seconds', 'Unix time of the start.', (read) => read.startSeconds],
      ['process_open_fds', 'Open descriptors.', (read) => read.openFiles],
      ['nodejs_heap_used_bytes', 'Heap of the main thread.', (read) => read.heapBytes],
    ];
  for (const [name, help, value] of gauges) {
    registry.gauge(name, help, async () => sample(value(await figures())));
  }
  registry.gauge('process_max_fds', 'Most open descriptors.', () => sample(descriptors ?? null));
  registry.gauge(
    'nodejs_eventloop_delay_p99_seconds',
    'How late the main thread came to its timers since the last reading, 99 % quantile.',
    () => sample(watched.loopDelaySeconds()),
  );
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
