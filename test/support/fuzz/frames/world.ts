import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { signRotation, verifyBatch } from '../../../../src/signing/index.js';
import { seededNoise } from '../../../../src/random/insecure.js';
import { InlineEpochRunner } from '../../../../server/epochs/inline-runner.js';
import type { StudyHub, VerifiedBatch } from '../../../../server/studies/contract.js';
import {
  createInMemoryListener, type InMemoryListener,
} from '../../../../server/listener/in-memory.js';
import type { ListenerLimits } from '../../../../server/network/options.js';
import type { Logger } from '../../../../server/base/logger.js';
import {
  createServerMetrics, type ServerMetrics,
} from '../../../../server/metrics/server-metrics.js';
import type { Store } from '../../../../server/store/contract.js';
import type { Welcome } from '../../../../src/wire/index.js';
import { openInlineSqliteStore } from '../../../../server/store/sqlite/open-inline.js';
import { createStudyHub, type RunningHub } from '../../../../server/studies/hub/hub.js';
import { settle, VirtualClock } from '../../virtual-clock.js';
import { BrokenPromise, must, Oracle } from './oracle.js';
import { earlierSigner, fuzzStudies, serverSigner } from './study.js';
import type { Tally } from './tally.js';
import { memoryFolder } from '../../memory-folder.js';

/**
 * A server without sockets: real sessions, signatures, hub, epochs and SQLite, on a clock that
 * stands still.
 */
export class World {
  readonly clock = new VirtualClock();
  readonly metrics: ServerMetrics = createServerMetrics();
  readonly oracle = new Oracle();
  /** True if each batch that reaches the hub is verified a second time, which costs as much. */
  verifies = false;
  /** While true the server believes that its journal is behind. */
  busy = false;
  /** The first promise that was broken; a listener must not be thrown at. */
  broken: unknown;
  #allJudged: Promise<unknown> = Promise.resolve();
  /** Names of what was sealed. */
  readonly #sealed = new Set<string>();
  readonly #directory = mkdtempSync(join(memoryFolder, 'keelson-fuzz-'));
  #store!: Store;
  #hub!: RunningHub;
  listener!: InMemoryListener;
  studies: readonly string[] = [];

  private constructor(private readonly tally: Tally) {}

  static async open(tally: Tally, limits: Partial<ListenerLimits>): Promise<World> {
    const world = new World(tally);
    const { clock } = world;
    world.#store = await openInlineSqliteStore({ directory: world.#directory, clock });
    world.#hub = await createStudyHub({
      store: world.#store, clock, signer: serverSigner, studies: fuzzStudies(),
      rotations: [signRotation(earlierSigner, serverSigner, signing)], logger: world.#logger(),
      runnerFactory: () => new InlineEpochRunner({ noise: () => seededNoise('fuzz') }),
      onFatal: (error) => { world.broken ??= error; },
    });
    world.studies = world.#hub.studies().map(({ studyId }) => studyId);
    // Ends when its epoch does: before and after it, both are met.
    await world.#hub.endStudy(world.studies.at(-1)!);
    world.listener = createInMemoryListener({ ...world.parts(), limits });
    return world;
  }

  /** What this server shows to a client first. */
  welcome(): Welcome {
    const { serverKey, rotations } = this.#hub;
    return {
      kind: 'welcome', serverKey, rotations, serverNonce: new Uint8Array(32),
      limits: {
        frameBytes: 1e6, rowsPerBatch: 64, creditBatches: 16, channelsPerSocket: 16,
        sequenceWindow: 64,
      },
      studies: this.#hub.studies().map(({ facts, factsSignature, state, epoch }) =>
        ({ facts, signature: factsSignature, state, epoch })),
    };
  }

  /** What a listener stands on. */
  parts(): { hub: StudyHub; clock: VirtualClock; logger: Logger; metrics: ServerMetrics } {
    const { clock, metrics } = this;
    return { hub: this.#watched(), clock, logger: this.#logger(), metrics };
  }

  nameOf(studyId: Uint8Array): string | undefined {
    return this.#hub.study(toHex(studyId))?.name;
  }

  epochOf(studyId: string): bigint {
    return this.#hub.study(studyId)?.epoch ?? 0n;
  }

  /** Notes that a contributor seals a body. */
  sealed(publicKey: Uint8Array, body: Uint8Array): void {
    if (this.verifies) this.#sealed.add(nameOf(publicKey, body));
  }

  /** Whether the contributor signed the body, or sealed it. */
  #isSent(batch: VerifiedBatch): boolean {
    return batch.signature.length === 0
      ? this.#sealed.has(nameOf(batch.contributor, batch.body)) : isSigned(batch);
  }

  /** Lets everything that was received come to its end. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 1_000; turn++) {
      await new Promise<void>((resolve) => { setImmediate(resolve); });
      if (this.metrics.totals.queuedBatches === 0) return this.check();
    }
    must(false, 'every batch is answered');
  }

  /** Time passes: epochs close, silent sockets are cut. */
  async pass(byMs: number): Promise<void> {
    await this.clock.advance(byMs);
    this.check();
  }

  /** Throws what a listener could not. */
  check(): void {
    if (this.broken !== undefined) throw this.broken as Error;
  }

  /**
   * Stops the server as on SIGTERM, and looks whether it let go of everything. @param leave ends
   * the sockets.
   */
  async close(leave: () => void): Promise<void> {
    const closing = this.listener.close(true);
    await settle();
    leave();
    await this.clock.advance(60_000);
    await closing;
    const { totals } = this.metrics;
    must(Object.values(totals).every((count) => count === 0), 'nothing is held at the end: '
      + `${JSON.stringify(totals)}`);
    await this.#hub.close();
    await this.#store.close();
    this.check();
    this.remove();
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The answer, once it was judged: after all that the hub was asked before. */
  #judged<Result>(answer: Promise<Result>, judge: (result: Result) => void): Promise<Result> {
    const before = this.#allJudged;
    const judged = Promise.all([answer, before]).then(([result]) => {
      try {
        judge(result);
      } catch (error) {
        this.broken ??= error;
      }
      return result;
    });
    this.#allJudged = judged.catch(() => undefined);
    return judged;
  }

  #watched(): StudyHub {
    const hub = this.#hub;
    const { tally, oracle } = this;
    return {
      serverKey: hub.serverKey, rotations: hub.rotations,
      studies: () => hub.studies(), study: (id) => hub.study(id),
      submit: async (batch) => {
        tally.passedSignature += 1;
        const epoch = this.epochOf(batch.studyId);
        if (this.verifies && !this.#isSent(batch)) {
          this.broken ??= new BrokenPromise('a forged batch');
        }
        return this.#judged(hub.submit(batch), (result) => {
          oracle.judge(batch, result, epoch);
          if (hub.study(batch.studyId)?.name === 'rated') {
            oracle.judgeRate(batch, result, this.clock.nowMs());
          }
        });
      },
      withdraw: async (request) => {
        tally.passedSignature += 1;
        const epoch = this.epochOf(request.studyId);
        return this.#judged(hub.withdraw(request), (result) =>
          oracle.judgeWithdrawal(request, result, epoch));
      },
      overloaded: () => this.busy,
      admits: (id, key) => {
        tally.passedSignature += 1;
        return hub.admits(id, key);
      },
      contributorState: (id, key) => hub.contributorState(id, key),
      releases: (...which) => hub.releases(...which), head: (id) => hub.head(id),
      signReady: (id, key, server, client) => hub.signReady(id, key, server, client),
      signShare: (share) => hub.signShare(share),
      balances: () => hub.balances(), progress: (id) => hub.progress(id),
      onEvent: (listener) => hub.onEvent(listener),
    };
  }

  /** An error in the log is a defect: a client's bytes must not cause one. */
  #logger(): Logger {
    const quiet = (): void => undefined;
    return {
      debug: quiet, info: quiet, warn: quiet,
      error: (fields, text) => {
        this.broken ??= new Error(`logged: ${text}`, { cause: (fields as { err?: unknown }).err });
      },
    };
  }
}

function nameOf(publicKey: Uint8Array, body: Uint8Array): string {
  return `${toHex(publicKey)} ${toHex(signing.sha512(body))}`;
}

/** True if the contributor signed the body, for the server's key or the one before. */
function isSigned({ studyId, contributor, body, signature }: VerifiedBatch): boolean {
  const verifier = signing.createVerifier(contributor);
  return [serverSigner, earlierSigner].some(({ publicKey: serverKey }) => verifyBatch(
    verifier, { serverKey, studyId: fromHex(studyId) }, signing.sha512(body), signature));
}
