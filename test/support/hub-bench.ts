import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '../../src/base/bytes.js';
import { seededNoise } from '../../src/random/insecure.js';
import { signing } from '../../src/signing/node.js';
import type { Question } from '../../src/base/questions.js';
import {
  encodeBatchBody, encodeRows, ofShortFacts, type ShortFacts, type StudyDocument,
} from '../../src/wire/index.js';
import type { EpochRunner } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import type { HubEvent, VerifiedBatch } from '../../server/studies/contract.js';
import type { Store } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import {
  createStudyHub, type RunningHub, type StudyHubOptions,
} from '../../server/studies/hub/hub.js';
import type { OpenSealed } from '../../server/studies/live/open-sealed.js';
import type { RefusedStudy } from '../../server/studies/refused-study.js';
import { VirtualClock } from './virtual-clock.js';
import { memoryFolder } from './memory-folder.js';
import { without } from './without.js';

export const everyMs = 10_000;

/**
 * Facts of a small study; everything can be overridden. Twenty epochs fit its budget unless
 * `epochs` says otherwise.
 */
export function studyDocument(overrides: Partial<ShortFacts> = {}): StudyDocument {
  return ofShortFacts({
    version: 1,
    study: 'delays',
    columns: ['minutes', 'miles'],
    cohort: 400,
    participation: 'secret',
    epoch: { everyMs },
    contribution: { reduce: 'mean', rowsMax: 8 },
    estimator: 'mean',
    parameters: { spread: [40, 600], corruption: 0.05, 'centre-part': 0.2 },
    privacy: { epsilon: 2, delta: 1e-6 },
    budget: { epsilon: 16, delta: 1e-5, rule: 'zcdp', scope: 'study' },
    admission: { kind: 'open' },
    late: 'next',
    retention: { kind: 'release' },
    ...overrides,
  });
}

/** The same small study with a list of questions. */
export function questionsDocument(
  questions: readonly Question[], overrides: Partial<StudyDocument> = {},
): StudyDocument {
  const shared = without(studyDocument({ version: 2 }), 'wireForm');
  return { ...shared, questions, ...overrides };
}

/** A step that a bench saw, in order: `store.chargeEpoch 1`, `noise 1`, `publish 1`, `ack`. */
export type Step = string;

/** What happened over one data folder, across restarts. */
export class Record {
  readonly steps: Step[] = [];
  readonly events: HubEvent[] = [];
  /** Noise draws by `study/epoch`. */
  readonly draws = new Map<string, number>();
  /** Contributors in the summaries at the draw, by `study/epoch`. */
  readonly contributorsAtDraw = new Map<string, number>();

  published(studyId: string) {
    return this.events.flatMap(
      (event) => (event.kind === 'release' && event.studyId === studyId ? [event.release] : []),
    );
  }
}

/**
 * Where a crash happens: `before` the transaction, or `after` it is durable and before anybody
 * learns of it.
 */
export interface Crash {
  readonly step: string;
  readonly when: 'before' | 'after';
}

const watched: readonly string[] = [
  'openEpoch', 'beginClose', 'turnEpoch', 'chargeEpoch', 'lapseEpoch', 'storeRelease', 'purgeEpoch',
];

/**
 * A store whose steps are recorded, and which "crashes" at one of them: from then on nothing gets
 * through.
 */
export function watchedStore(store: Store, record: Record, crash?: Crash): Store {
  let dead = false;
  const dying = (): never => { throw new Error('the process is gone'); };
  return new Proxy(store, {
    get(target, name: string) {
      const method =
        (target as unknown as { [name: string]: (...args: unknown[]) => Promise<unknown> })[name];
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        if (dead) dying();
        const step = `store.${name} ${epochOf(args)}`;
        const dies = crash !== undefined && crash.step === step;
        if (dies && crash.when === 'before') { dead = true; dying(); }
        const result = await method.apply(target, args);
        if (dead) dying();
        if (watched.includes(name)) record.steps.push(step);
        if (dies) { dead = true; dying(); }
        return result;
      };
    },
  });
}

function epochOf(args: readonly unknown[]): string {
  const [first, second] = args;
  const epoch = typeof second === 'bigint'
    ? second : (first as { epoch?: bigint } | undefined)?.epoch;
  return epoch === undefined ? '' : String(epoch);
}

/** The inline runner with seeded noise, recorded. */
export function watchedRunner(record: Record, seed = 'bench', crashInDraw = false): EpochRunner {
  const runner = new InlineEpochRunner({ noise: () => seededNoise(seed) });
  const release = runner.release.bind(runner);
  runner.release = async (studyId, epoch, before) => {
    const key = `${studyId}/${epoch}`;
    record.contributorsAtDraw.set(key, (await runner.progress(studyId, epoch)).contributors);
    record.steps.push(`noise ${epoch}`);
    record.draws.set(key, (record.draws.get(key) ?? 0) + 1);
    if (crashInDraw) return new Promise(() => {});
    return release(studyId, epoch, before);
  };
  return runner;
}

export interface HubOptions {
  readonly paused?: StudyHubOptions['paused'];
  readonly crash?: Crash;
  readonly crashInDraw?: boolean;
  readonly seed?: string;
  readonly runner?: EpochRunner;
  readonly releaseTickMs?: number;
  readonly strict?: boolean;
  /** Default: those of this machine. */
  readonly memoryBytes?: number;
  readonly refused?: readonly RefusedStudy[];
  readonly held?: boolean;
  readonly openSealed?: OpenSealed;
}

/** A data folder, a clock, and the hubs that run over them one after the other. */
export class Bench {
  readonly clock = new VirtualClock();
  readonly record = new Record();
  readonly signer = signing.createSigner(new Uint8Array(32).fill(5));
  readonly failures: unknown[] = [];
  readonly logs: string[] = [];
  /** The same lines with their fields. */
  readonly logged: { readonly fields: object; readonly text: string }[] = [];
  /** What hubs get in place of the data folder's store. */
  wrapStore = (store: Store): Store => store;
  /** Releases of this study throw instead of drawing. */
  breakRelease = '';
  readonly #directory = mkdtempSync(join(memoryFolder, 'keelson-hub-'));
  #store: Store | undefined;

  async store(): Promise<Store> {
    return this.#store ??=
      await openInlineSqliteStore({ directory: this.#directory, clock: this.clock });
  }

  async start(studies: readonly StudyDefinition[], options: HubOptions = {}): Promise<RunningHub> {
    const log = (level: string) => (fields: object, text: string): void => {
      this.logs.push(`${level}: ${text}`);
      this.logged.push({ fields, text });
    };
    const hub = await createStudyHub({
      store: watchedStore(this.wrapStore(await this.store()), this.record, options.crash),
      runnerFactory: () => this.#breakable(options.runner
        ?? watchedRunner(this.record, options.seed, options.crashInDraw)),
      clock: this.clock,
      signer: this.signer,
      ...(options.paused !== undefined && { paused: options.paused }),
      ...(options.releaseTickMs !== undefined && { releaseTickMs: options.releaseTickMs }),
      ...(options.strict !== undefined && { strict: options.strict }),
      ...(options.memoryBytes !== undefined && { memoryBytes: options.memoryBytes }),
      ...(options.refused !== undefined && { refused: options.refused }),
      ...(options.held !== undefined && { held: options.held }),
      ...(options.openSealed !== undefined && { openSealed: options.openSealed }),
      seriesKey: () => new Uint8Array(32).fill(9),
      studies,
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      onFatal: (error) => this.failures.push(error),
    });
    hub.onEvent((event) => {
      this.record.events.push(event);
      if (event.kind === 'release') this.record.steps.push(`publish ${event.release.epoch}`);
    });
    return hub;
  }

  #breakable(runner: EpochRunner): EpochRunner {
    const release = runner.release.bind(runner);
    runner.release = (studyId, ...rest) =>
      (studyId === this.breakRelease
        ? Promise.reject(new Error('a defect')) : release(studyId, ...rest));
    return runner;
  }

  async close(): Promise<void> {
    await this.#store?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export const define = (
  overrides: Partial<ShortFacts> = {},
): StudyDefinition => defineStudy(studyDocument(overrides));

/** 32 bytes that stand for a contributor; the hub does not look at signatures. */
export function keyOf(contributor: number): Uint8Array {
  const key = new Uint8Array(32).fill(1);
  new DataView(key.buffer).setUint32(0, contributor);
  return key;
}

/** A batch as the listener hands it over, its signature checked. */
export function batchOf(
  studyId: string, contributor: number, epoch: bigint,
  overrides: Partial<VerifiedBatch> & { values?: Float64Array } = {},
): VerifiedBatch {
  const values = overrides.values ?? rowOf(contributor);
  const columns = overrides.columns ?? 2;
  const rows = values.length / columns;
  const sequence = overrides.sequence ?? epoch;
  const last = overrides.last ?? true;
  const body = encodeBatchBody({
    studyId: Uint8Array.from(Buffer.from(studyId, 'hex')), sequence, epoch, last, rows, columns,
    dataType: 'float64', data: encodeRows(values, 'float64'),
  });
  return {
    studyId, contributor: keyOf(contributor), sequence, epoch, last, rows, columns, values,
    digest: signing.sha512(body), body, signature: new Uint8Array(64).fill(2), ...overrides,
  };
}

/** Spread like the data that the test study was made for: around (12, 730), one spread wide. */
export function rowOf(contributor: number): Float64Array {
  const digest = signing.sha512(keyOf(contributor));
  const uniform = (at: number): number => new DataView(digest.buffer).getUint32(at) / 2 ** 32 - 0.5;
  return Float64Array.of(12 + 40 * 3.4 * uniform(0), 730 + 600 * 3.4 * uniform(8));
}

/** Many contributors send one batch each, in one turn of the event loop. */
export async function contribute(
  hub: RunningHub, studyId: string, contributors: number, epoch: bigint,
) {
  return Promise.all(
    Array.from({ length: contributors }, (_, i) => hub.submit(batchOf(studyId, i, epoch))),
  );
}

export const hexKey = (contributor: number): string => toHex(keyOf(contributor));
