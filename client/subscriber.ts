import { signing } from '#signing';
import { openTransport as platformTransport } from '#websocket';
import { equalBytes, toHex } from '../src/base/bytes.js';
import { InvalidParameterError, KeelsonError, WireError } from '../src/base/errors.js';
import { chainStart, ReleaseChain } from '../src/log/index.js';
import { signedMessage, withAhead, type AheadVerifier } from '../src/signing/index.js';
import {
  decodeHeadBody, decodeReleaseBody, decodeServerFrame, decodeStudyDocument, encodeClientFrame,
  type HeadBody, type Notice, type ReleaseBody, type ServerFrame, type SignedHead,
  type SignedRelease,
} from '../src/wire/index.js';
import type { StudyDocument } from '../src/wire/study-document.js';
import { clientDefaults, systemRuntime } from './base/defaults.js';
import type { ClientRuntime } from './base/runtime.js';
import { EventTransport } from './http/events.js';
import { withHttpFallback, type Via } from './http/fallback.js';
import { Connection } from './session/connection.js';
import {
  checkedKey, findStudy, type VerifiedStudy, type VerifiedWelcome,
} from './session/handshake.js';
import type { OpenTransport } from './websocket/contract.js';
import { paced } from './websocket/paced.js';
import { webSocketUrl } from './websocket/url.js';

/** Options of `subscribe`. */
export interface SubscribeOptions {
  readonly url: string;
  /** The study's name, or its id (64 hexadecimal digits), which pins the exact facts. */
  readonly study: string;
  /** Index of the first requested release. Default 0, which verifies the whole log. */
  readonly from?: bigint;
  /** SHA-512 of the body of the release before `from`, so that the first link is checked too. */
  readonly previousDigest?: Uint8Array;
  /**
   * 32 bytes: any present or earlier key of the only accepted server. Default: the key of the first
   * connection, kept from then on.
   */
  readonly serverKey?: Uint8Array;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /** The wait for a last release after the study has stopped, in milliseconds. Default 2,000. */
  readonly endGraceMs?: number;
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  readonly idleTimeoutMs?: number;
  /**
   * Verification gives the platform a turn after about this time, so that pages can draw. Default:
   * never.
   */
  readonly sliceMs?: number;
  /** For tests and other platforms. */
  readonly runtime?: ClientRuntime;
  readonly openTransport?: OpenTransport;
}

/** A release whose signature and place in the chain were checked. */
export interface VerifiedRelease {
  readonly release: ReleaseBody;
  /** The signed bytes, to store or to pass on. */
  readonly signed: SignedRelease;
  /** The study's verified facts. */
  readonly document: StudyDocument;
  /** Hexadecimal: the key that signed it. */
  readonly serverKey: string;
}

/** A running subscription. Iterate it once. */
export interface ReleaseSubscription extends AsyncIterable<VerifiedRelease> {
  /** The newest verified head of the log; null before the first. */
  readonly head: HeadBody | null;
  /** The transport of the releases: a WebSocket, or events over HTTP where none gets through. */
  readonly via: Via;
  /**
   * Calls the listener when `via` changes; `reason` is for people. Replaces the listener before.
   */
  onVia(listener: (via: Via, reason: string) => void): void;
  /**
   * Calls the listener when a connection is lost, for progress displays. Replaces the listener
   * before.
   */
  onReconnecting(listener: (reason: string, retryInMs: number) => void): void;
  /**
   * Calls the listener when a socket is open and its Welcome is verified. Missed releases come
   * next. Replaces the listener before.
   */
  onConnected(listener: () => void): void;
  /**
   * Calls the listener with the study's state, at each connection and at each change. Replaces the
   * listener before.
   */
  onNews(listener: (news: StudyNews) => void): void;
  /**
   * Calls the listener when everything up to this signed head was received and verified. Replaces
   * the listener before.
   */
  onHead(listener: (head: HeadBody) => void): void;
}

/** The state of a study as the server reports it. Unlike releases and heads, it is not signed. */
export interface StudyNews {
  readonly state: HeadBody['state'];
  /** The open epoch; 0n when none. */
  readonly epoch: bigint;
  /**
   * Milliseconds from now until it closes; null when the server did not report it, or it closes on
   * a count.
   */
  readonly closesInMs: number | null;
}

/**
 * Follows the releases of a study. Verifies each one: signature, study, facts, and the digest that
 * chains it to the one before. Lost connections are renewed without limit, and missed releases are
 * requested again. The iteration ends when the study has ended and its signed head agrees with the
 * received releases, or by `signal`.
 * @throws (from the iteration) LogError('log-invalid') with `details.expected`, the index where the
 *   chain breaks;
 * KeelsonError('server-key-mismatch'); WireError('unknown-study', ...). InvalidParameterError at
 * once for a bad URL or key.
 * @example
 * const releases = subscribe({ url: 'ws://127.0.0.1:8787', study: 'flight-delays' });
 * for await (const { release } of releases) {
 *   if (release.outcome.kind === 'value') console.log(release.epoch, release.outcome.estimate);
 * }
 */
export function subscribe(options: SubscribeOptions): ReleaseSubscription {
  return new Subscription(options);
}

class Subscription implements ReleaseSubscription {
  head: HeadBody | null = null;
  via: Via = 'websocket';
  private readonly connection: Connection;
  private readonly items: VerifiedRelease[] = [];
  private serverKey: Uint8Array | null;
  private study: VerifiedStudy | null = null;
  private chain: ReleaseChain | null = null;
  /** Verify the chain's signatures: one for each key that the server had, oldest first. */
  private verifiers: readonly AheadVerifier[] = [];
  /** The reader is too slow. The socket is closed until the reader has caught up. */
  private paused = false;
  /** The index that an earlier socket left out. One new socket may still deliver it. */
  private missing: bigint | null = null;
  /**
   * Length of the chain when this socket sent its first request. The server's log cannot be
   * shorter.
   */
  private stoodAt = 0n;
  private done = false;
  private error: KeelsonError | null = null;
  private wake: (() => void) | null = null;
  private cancelEnd: () => void = () => undefined;
  private viaListener: (via: Via, reason: string) => void = () => undefined;
  private listener: (reason: string, retryInMs: number) => void = () => undefined;
  private connectedListener: () => void = () => undefined;
  private newsListener: (news: StudyNews) => void = () => undefined;
  private headListener: (head: HeadBody) => void = () => undefined;

  constructor(private readonly options: SubscribeOptions) {
    webSocketUrl(options.url);
    this.serverKey = options.serverKey === undefined
      ? null : checkedKey(options.serverKey, 'the server key');
    const { runtime = systemRuntime, sliceMs } = options;
    const open = options.openTransport ?? withHttpFallback(platformTransport, {
      runtime,
      overHttp: async (url, handlers) => new EventTransport(url, handlers, runtime),
      onVia: (via, reason) => {
        this.via = via;
        this.viaListener(via, reason);
      },
    });
    const openTransport = sliceMs === undefined
      ? open : paced(open, runtime, sliceMs, (bytes) => this.prepare(bytes));
    this.connection = new Connection(
      { ...options, runtime, openTransport, readFacts: decodeStudyDocument },
      {
        pinnedKeys: () => (this.serverKey === null ? [] : [this.serverKey]),
        onWelcome: (welcome) => this.guard(() => this.onWelcome(welcome)),
        onFrame: (frame) => this.guard(() => this.onFrame(frame)),
        onDown: (reason, retryInMs) => {
          this.cancelEnd();
          this.listener(reason, retryInMs);
        },
        onFatal: (error) => this.finish(error),
        // A release may come at any time, so its absence shows nothing. Only pings detect a lost
        // connection.
        isAwaiting: () => false,
      },
    );
  }

  onVia(listener: (via: Via, reason: string) => void): void {
    this.viaListener = listener;
  }

  onReconnecting(listener: (reason: string, retryInMs: number) => void): void {
    this.listener = listener;
  }

  onConnected(listener: () => void): void {
    this.connectedListener = listener;
  }

  onNews(listener: (news: StudyNews) => void): void {
    this.newsListener = listener;
  }

  onHead(listener: (head: HeadBody) => void): void {
    this.headListener = listener;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<VerifiedRelease, void, undefined> {
    const { signal } = this.options;
    const abort = (): void => this.finish(null);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      if (signal?.aborted === true) return;
      this.connection.open();
      for (;;) {
        const item = this.items.shift();
        if (item !== undefined) {
          yield item;
          if (this.paused && this.items.length === 0) {
            this.paused = false;
            this.connection.open();
          }
        } else if (this.error !== null) throw this.error;
        else if (this.done) return;
        else await new Promise<void>((resolve) => { this.wake = resolve; });
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      this.finish(null);
    }
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      const wrapped = new KeelsonError('invariant', 'the subscription failed', { cause: error });
      this.finish(error instanceof KeelsonError ? error : wrapped);
    }
  }

  private finish(error: KeelsonError | null): void {
    if (this.done || this.error !== null) return;
    if (error === null) this.done = true;
    else this.error = error;
    this.cancelEnd();
    this.connection.close();
    this.wake?.();
  }

  private onWelcome(welcome: VerifiedWelcome): void {
    this.serverKey = welcome.server.publicKey;
    const study = findStudy(welcome, this.study?.studyIdHex ?? this.options.study);
    this.study = study;
    if (this.chain === null) {
      const { from = 0n, previousDigest } = this.options;
      const keys = this.aheadOf(welcome);
      this.chain = new ReleaseChain({
        server: keys.at(-1)!,
        earlier: keys.slice(0, -1),
        signing,
        studyId: study.studyId,
        document: study.document,
        from: from === 0n
          ? chainStart : { index: from, digest: previousDigest ?? null, epoch: null },
      });
    } else this.chain.follow(this.aheadOf(welcome));
    this.stoodAt = this.chain.position.index;
    this.connection.send(
      encodeClientFrame({ kind: 'subscribe', studyId: study.studyId, fromRelease: this.stoodAt }),
    );
    this.connectedListener();
    this.newsListener({ state: study.state, epoch: study.epoch, closesInMs: null });
  }

  /**
   * The server's keys, each with its platform verifier. Verifiers from an earlier socket are
   * reused.
   */
  private aheadOf(welcome: VerifiedWelcome): readonly AheadVerifier[] {
    this.verifiers = welcome.keys.map((key) =>
      this.verifiers.find(({ publicKey }) => equalBytes(publicKey, key.publicKey))
        ?? withAhead(signing.createVerifier(key.publicKey), key));
    return this.verifiers;
  }

  /**
   * The platform verifies signatures of releases that have arrived while earlier ones are
   * delivered.
   */
  private prepare(bytes: Uint8Array): Promise<void> | null {
    const { verifiers, study } = this;
    if (study === null) return null;
    try {
      const frame = decodeServerFrame(bytes);
      if (frame.kind !== 'release') return null;
      const { serverKey } = decodeReleaseBody(frame.body);
      const verifier = verifiers.find(({ publicKey }) => equalBytes(publicKey, serverKey));
      if (verifier === undefined) return null;
      const context = { serverKey: verifier.publicKey, studyId: study.studyId };
      return verifier.ahead(
        signedMessage('release', context, null, signing.sha512(frame.body)), frame.signature,
      );
    } catch {
      // The connection reports unreadable bytes when their turn comes.
      return null;
    }
  }

  private onFrame(frame: ServerFrame): void {
    if (this.chain === null) return;
    if (frame.kind === 'release') this.onRelease(frame, this.chain);
    else if (frame.kind === 'head') this.takeHead(frame, this.chain);
    else if (frame.kind === 'notice') this.onNotice(frame);
    else if (frame.kind === 'refusal' && frame.channel === 0) {
      if (frame.retryable) this.connection.drop(frame.text);
      else this.finish(new WireError(frame.code, frame.text, { retryable: false }));
    }
  }

  private onRelease(signed: SignedRelease, chain: ReleaseChain): void {
    const index = peekIndex(signed);
    // The server skips releases when this client reads too slowly. The skipping release was not
    // accepted yet.
    if (index !== null && index > chain.position.index && this.askAgain(chain.position.index)) {
      return;
    }
    if (this.items.length >= clientDefaults.releasesHeldMax) {
      this.paused = true;
      this.connection.pause();
      return;
    }
    const release = chain.accept(signed);
    this.cancelEnd();
    this.connection.progress();
    this.items.push({
      release, signed, document: this.study!.document, serverKey: toHex(release.serverKey),
    });
    this.wake?.();
  }

  /**
   * Connects again to get a release that was left out. Returns false when an earlier attempt did
   * not help.
   */
  private askAgain(index: bigint): boolean {
    if (this.missing === index) return false;
    this.missing = index;
    this.connection.drop(`release ${index} was left out`);
    return true;
  }

  private takeHead(signed: SignedHead, chain: ReleaseChain): void {
    const { count } = decodeHeadBody(signed.body);
    if (count > chain.position.index && this.askAgain(chain.position.index)) return;
    // This head was written before a release that came first. The next head will be newer.
    if (count < chain.position.index && count >= this.stoodAt) return;
    const { index, digest } = chain.position;
    if (count < index && digest === null) {
      // No release was received and none is known, so nothing is missing: `from` is past the end.
      const text = `from is ${index}, but the log has ${count} releases so far: give no more`;
      return this.finish(new InvalidParameterError(text, { from: index, releases: count }));
    }
    const head = chain.checkHead(signed);
    this.head = head;
    this.connection.progress();
    this.headListener(head);
    if (head.state !== 'open') this.endSoon();
  }

  private onNotice({ studyId, state, epoch, closesInMs }: Notice): void {
    if (this.study === null || toHex(studyId) !== this.study.studyIdHex) return;
    // 0 means that no time is set.
    this.newsListener({ state, epoch, closesInMs: closesInMs === 0n ? null : Number(closesInMs) });
  }

  /**
   * When the study stops, its last release may still be in preparation. A release that comes in the
   * meantime restarts the wait.
   */
  private endSoon(): void {
    const { runtime = systemRuntime, endGraceMs = clientDefaults.endGraceMs } = this.options;
    this.cancelEnd();
    this.cancelEnd = runtime.after(endGraceMs, () => this.finish(null));
  }
}

/**
 * The index that a release claims; null when it cannot be read. The chain then reports the error.
 */
function peekIndex(signed: SignedRelease): bigint | null {
  try {
    return decodeReleaseBody(signed.body).index;
  } catch {
    return null;
  }
}
