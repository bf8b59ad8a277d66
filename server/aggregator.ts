import { availableParallelism } from 'node:os';
import { signing } from '#signing';
import { toHex } from '../src/base/bytes.js';
import { InvalidParameterError, type KeelsonError } from '../src/base/errors.js';
import { keyFingerprint, keysOfRotation } from '../src/signing/index.js';
import { watchForAlerts, type WatchedServer } from './alerts/watch.js';
import { BodyMemory } from './checks/body-memory.js';
import type { BatchChecks } from './checks/contract.js';
import { inlineChecks } from './checks/inline.js';
import { checkThreadsFor, threadedChecks } from './checks/threads.js';
import { allRoles, type Role } from './base/roles.js';
import { reportFull } from './store/full-disk.js';
import { checkClock } from './store/clock-check.js';
import { systemClock, whileAlive, type Clock } from './base/clock.js';
import type { EpochRunner } from './epochs/contract.js';
import { WorkerEpochRunner } from './epochs/worker-runner.js';
import { openSeriesKey } from './keys/series-key.js';
import { openServerKeys } from './keys/server-keys.js';
import { checkSharedKeys } from './keys/shared-keys.js';
import { checkBeforeListening } from './listener/before-listening.js';
import {
  createListener, type Listener, type NetworkOptions, type TlsIdentity,
} from './listener/index.js';
import { createLogger, type Logger } from './base/logger.js';
import { noTracing, openTelemetry } from './base/tracing.js';
import { openOperatorRecords } from './base/operator-records.js';
import { keyOfReleases } from './keys/release-key.js';
import { SealedPart } from './sealed/sealed-part.js';
import type { Store } from './store/contract.js';
import { openSqliteStore } from './store/sqlite/open.js';
import type { AlertSettings } from './study-file/settings.js';
import type { StudyDefinition } from './studies/definition.js';
import { createStudyHub, type RunningHub } from './studies/hub/hub.js';
import type { RefusedStudy } from './studies/refused-study.js';

/** The data folder, the studies and the address of an aggregator. */
export interface AggregatorOptions {
  /**
   * The data folder: store, server key, operator token. Created when absent; one aggregator at a
   * time.
   */
  readonly dataDirectory: string;
  /** From `parseStudyText` or `defineStudy`. */
  readonly studies: readonly StudyDefinition[];
  /**
   * Studies that could not be defined. The operator sees them beside those that the store refuses.
   * Default: none.
   */
  readonly refused?: readonly RefusedStudy[];
  /**
   * True: every study must start. Default: studies that cannot start are logged and left out, and
   * the others run. The start fails only when none can start.
   */
  readonly strict?: boolean;
  /**
   * Default 127.0.0.1. Before other machines can reach it, use TLS here (`network.tls`) or in a
   * reverse proxy.
   */
  readonly host?: string;
  /** Default 8787; 0 lets the system choose. */
  readonly port?: number;
  readonly clock?: Clock;
  /**
   * Unix time that the operator states, for one start after the clock was wrong: see checkClock.
   */
  readonly confirmedTimeMs?: number;
  readonly logger?: Logger;
  /**
   * True: batches and releases are traced, by the OpenTelemetry SDK that the process has
   * registered. A trace has the time at which a batch came. Default false.
   */
  readonly tracing?: boolean;
  /** Receivers of alerts about refusals, spent budgets, silence and invalid logs. Default: none. */
  readonly alerts?: AlertSettings;
  /** Computes the releases. Default: worker threads. */
  readonly runnerFactory?: (onDeath: (error: KeelsonError) => void) => EpochRunner;
  /**
   * Threads that check the signatures of batches, from 0 to 16. 0: the main thread checks. Default:
   * one fewer than there are cores, at most 4.
   */
  readonly checkThreads?: number;
  /**
   * Accepts a database that is older than the folder's earlier contents: the known missing charges
   * are made again. Set it for one start only. Default: such a folder is refused (StorageError
   * data-folder-rolled-back).
   */
  readonly acceptRollback?: boolean;
  /**
   * Opens the store. Default: `openSqliteStore`.
   * @param leads whether this server may lead studies: a shared store must know it.
   */
  readonly openStore?: (directory: string, clock: Clock, leads: boolean) => Promise<Store>;
  /** The roles of this server on a store that several servers share. Default: all roles. */
  readonly roles?: ReadonlySet<Role>;
  /**
   * Releases are published at whole multiples of this many milliseconds of Unix time, from 0 to
   * 60,000. Default 250. 0: releases are published when they are ready, so their times reveal how
   * long the work took.
   */
  readonly releaseTickMs?: number;
  /**
   * True: no study opens an epoch before `hub.startStudy`. Until then contributors can connect, and
   * nothing is charged. An epoch that an earlier process left open still closes and is released.
   * Default false.
   */
  readonly held?: boolean;
  readonly network?: NetworkOptions;
  /**
   * Which of the three servers of its sealed studies this one is: a name in their facts. Default:
   * none, and sealed studies are refused.
   */
  readonly as?: string;
  /**
   * The time for which another server of a sealed study may be silent during a release, in
   * milliseconds. Default 60,000.
   */
  readonly peerTimeoutMs?: number;
  /**
   * Called when the disk failed, or an invariant broke. The server accepts nothing any more. End
   * the process, and start again after the cause is removed. Default: the aggregator closes, and
   * `failed` rejects.
   */
  readonly onFatal?: (error: unknown) => void;
}

/** A running server. */
export interface Aggregator {
  readonly hub: RunningHub;
  readonly port: number;
  /** `http://host:port`, or `https://` with TLS. */
  readonly address: string;
  /**
   * Uses a renewed certificate for new connections. @throws InvalidInputError as the listener does.
   */
  renewTls(identity: TlsIdentity): void;
  /** 32 bytes. Clients pin it, and verify logs with it. */
  readonly serverKey: Uint8Array;
  /** The files of the server key and the operator token. */
  readonly paths: { readonly serverKey: string; readonly operatorToken: string };
  /** Secret files that this start created. */
  readonly created: readonly string[];
  /** Rejects when the server stopped because of a failure. Never resolves. */
  readonly failed: Promise<never>;
  /**
   * Accepts no more connections, answers received batches, finishes releases in progress and closes
   * the store. The next start continues open epochs.
   */
  close(): Promise<void>;
}

/** The interval of reports from a server that does not listen yet. */
const waitToldMs = 10_000;

/**
 * Starts an aggregator: checks that it could listen, opens the data folder, continues what an
 * earlier process left, then listens.
 * @throws KeelsonError('clock-implausible') as checkClock; StorageError data-folder-in-use,
 *   data-folder-rolled-back, schema-too-new or storage-failed; InvalidInputError for its secrets;
 *   KeelsonError('invalid-study') when no study can start (with `strict`: when one cannot); the
 *   system's error when the port is taken.
 */
export async function createAggregator(options: AggregatorOptions): Promise<Aggregator> {
  const { clock = systemClock, logger = createLogger() } = options;
  const stopTelling = tellOfWaits(clock, logger);
  try {
    return await whileAlive(() => start(options, clock, logger));
  } finally {
    stopTelling();
  }
}

/**
 * Before the server listens nobody can ask for its state, and it may wait long: for a database that
 * is away, or for the journal of a large epoch.
 * @returns a function that stops the reports.
 */
function tellOfWaits(clock: Clock, logger: Logger): () => void {
  const beganMs = clock.monotonicMs();
  let cancel: () => void;
  const tell = (): void => {
    const seconds = Math.round((clock.monotonicMs() - beganMs) / 1000);
    logger.warn({ seconds }, 'the server does not listen yet: it waits for its store');
    cancel = clock.after(waitToldMs, tell);
  };
  cancel = clock.after(waitToldMs, tell);
  return () => cancel();
}

async function start(
  options: AggregatorOptions, clock: Clock, logger: Logger,
): Promise<Aggregator> {
  const { dataDirectory, acceptRollback = false } = options;
  const { host = '127.0.0.1', port = 8787, network, roles = allRoles } = options;
  // This comes first, so that a refused start creates no folder and no keys.
  await checkBeforeListening({ ...network, host, port });
  const openStore = options.openStore
    ?? ((directory: string) => openSqliteStore({
      directory, clock, acceptRollback, onFull: (why) => reportFull(logger, why),
    }));
  const store = await openStore(dataDirectory, clock, roles.has('lead'));
  const opened: (() => Promise<void>)[] = [() => store.close()];
  const closeAll = (): Promise<void> => closeEach(opened);
  const failure = deferred();
  try {
    await checkClock(store, clock.nowMs(), logger, options.confirmedTimeMs);
    // After the check of the clock: this adds charges with its time.
    await store.acceptRollback?.(clock.nowMs());
    if (acceptRollback) await reportRollbacks(store, logger);
    const { keys, rotations } = await openKeys(store, dataDirectory);
    const hasSeries = options.studies.some(({ document }) => document.running !== undefined);
    await checkSharedKeys(store, dataDirectory, keys.seed, hasSeries);
    const records = openOperatorRecords(dataDirectory);
    const running: { listener?: Listener } = {};
    const sealedPart = sealedPartOf(options, clock, logger);
    const tracing = options.tracing === true ? openTelemetry() : noTracing;
    const hub = await createStudyHub({
      store, clock, logger, tracing, worksForOthers: roles.has('work'),
      signer: signing.createSigner(keys.seed),
      rotations, studies: options.studies, paused: records.paused, heldStudies: records.held,
      refused: options.refused ?? [], strict: options.strict ?? false,
      releaseTickMs: options.releaseTickMs ?? 250, held: options.held ?? false,
      seriesKey: () => openSeriesKey(dataDirectory),
      ...(sealedPart !== null && { openSealed: sealedPart.open }),
      runnerFactory: options.runnerFactory ?? ((onDeath) => new WorkerEpochRunner({ onDeath })),
      onFatal: (error) => {
        failure.reject(error);
        if (options.onFatal !== undefined) options.onFatal(error);
        else void running.listener?.close(false);
      },
    });
    opened.push(() => hub.close(), startAlerts(options.alerts, { hub, clock, logger }));
    const checks = startChecks(options.checkThreads, hub, logger);
    opened.push(() => checks.close());
    const listener = await createListener({
      hub, clock, logger, tracing, checks,
      host, port, operatorToken: keys.operatorToken, takesBatches: roles.has('ingest'),
      storeHealth: () => store.health(), notes: records.notes,
      ...(sealedPart !== null && { takePeer: sealedPart.takePeer }),
      ...network,
    });
    running.listener = listener;
    opened.push(() => listener.close(true), async () => sealedPart?.close());
    reportStart(logger, listener.address, options.studies, hub.serverKey, checks);
    let closing: Promise<void> | undefined;
    return {
      hub, port: listener.port, address: listener.address, serverKey: hub.serverKey,
      paths: keys.paths, created: keys.created, failed: failure.promise,
      renewTls: (identity) => listener.renewTls(identity),
      close: () => {
        store.endSoon?.();
        return closing ??= closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The last one first. @throws the error of the first that failed, after all of them. */
async function closeEach(opened: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of opened.toReversed()) {
    await close().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

function sealedPartOf(
  { as, peerTimeoutMs: timeoutMs = 60_000 }: AggregatorOptions, clock: Clock, logger: Logger,
): SealedPart | null {
  return as === undefined ? null : new SealedPart({ as, clock, logger, timeoutMs });
}

/** @returns a function that stops them. */
function startAlerts(
  settings: AlertSettings | undefined, server: WatchedServer,
): () => Promise<void> {
  const stop = settings === undefined ? () => undefined : watchForAlerts(settings, server);
  return async () => stop();
}

function reportStart(
  logger: Logger, address: string, studies: readonly StudyDefinition[], key: Uint8Array,
  checks: BatchChecks,
): void {
  logger.info({
    address, serverKey: toHex(key), fingerprint: keyFingerprint(key, signing),
    studies: studies.map(({ document }) => document.study), checkThreads: checks.threads,
  }, 'the server listens');
}

/** Call it after the store was opened: its lock excludes other servers from this folder. */
async function openKeys(store: Store, dataDirectory: string) {
  const rotations = await store.rotations?.() ?? [];
  const keys = openServerKeys(dataDirectory, rotations, rotations.length === 0
    ? await keyOfReleases(store) : null);
  return { keys, rotations };
}

/** Decides once, by the number of cores, where signatures are checked. */
function startChecks(
  wanted: number | undefined, { serverKey, rotations }: RunningHub, logger: Logger,
): BatchChecks {
  const threads = wanted ?? checkThreadsFor(availableParallelism());
  if (!Number.isInteger(threads) || threads < 0 || threads > 16) {
    throw new InvalidParameterError('checkThreads is a whole number from 0 to 16', { threads });
  }
  const memory = new BodyMemory();
  if (threads === 0) return inlineChecks(memory);
  const earlier = rotations.map((rotation) => keysOfRotation(rotation).previousKey);
  return threadedChecks({ threads, memory, logger, serverKeys: [serverKey, ...earlier] });
}

async function reportRollbacks(store: Store, logger: Logger): Promise<void> {
  const rollbacks = await store.rollbacks?.() ?? [];
  logger.warn({ newest: rollbacks.at(-1) ?? null, rollbacks: rollbacks.length },
    'this start accepts an older database: leave --accept-rollback out from the next one on');
}

function deferred(): {
  readonly promise: Promise<never>; readonly reject: (error: unknown) => void;
} {
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_resolve, fail) => { reject = fail; });
  // A caller may ignore `failed`: the error is in the log.
  promise.catch(() => undefined);
  return { promise, reject };
}
