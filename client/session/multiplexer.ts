import { toHex } from '../../src/base/bytes.js';
import type { KeelsonError } from '../../src/base/errors.js';
import type { Ack, Ready, Refusal, ServerFrame } from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import type { Channel } from './channel.js';
import type { ChannelLink, Pumped } from './channel-contract.js';
import { Connection, type ConnectionOptions } from './connection.js';
import type { VerifiedWelcome } from './handshake.js';

/** The owner's side of a multiplexer: keys that it asks for, and events that it reports. */
export interface MultiplexerHooks {
  /**
   * Keys that must all belong to the server, now or earlier. Empty: the offered key is accepted.
   */
  pinnedKeys(): readonly Uint8Array[];
  onWelcome?(welcome: VerifiedWelcome): void;
  onDown?(reason: string, retryInMs: number, attempt: number): void;
  /** The server can never be used. All channels have ended. */
  onFatal?(error: KeelsonError): void;
}

/**
 * Carries any number of channels over one connection. An SDK client has one channel, a simulated
 * fleet hundreds.
 */
export class Multiplexer {
  private readonly connection: Connection;
  private readonly channels = new Map<string, Channel[]>();
  private readonly byNumber = new Map<number, Channel>();
  private readonly starved = new Set<Pumped>();
  private link: ChannelLink | null = null;
  private cancelPoll: (() => void) | null = null;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly hooks: MultiplexerHooks,
  ) {
    this.connection = new Connection(options, {
      pinnedKeys: () => hooks.pinnedKeys(),
      onWelcome: (welcome) => this.onWelcome(welcome),
      onFrame: (frame) => this.onFrame(frame),
      onDown: (reason, retryInMs, attempt) => {
        this.onDown();
        hooks.onDown?.(reason, retryInMs, attempt);
      },
      onFatal: (error) => {
        this.onDown();
        for (const channel of this.all()) channel.end(error);
        hooks.onFatal?.(error);
      },
      regreet: (serverNonce) => this.all()[0]?.regreet?.(serverNonce) ?? null,
      isAwaiting: () => this.all().some((channel) => channel.isAwaiting),
    });
  }

  /** @throws InvalidParameterError for a URL that can never work. */
  open(): void {
    this.connection.open();
  }

  add(channel: Channel): void {
    const key = toHex(channel.signer.publicKey);
    const known = this.channels.get(key);
    // One key may be in several studies.
    if (known === undefined) this.channels.set(key, [channel]);
    else known.push(channel);
    if (this.link !== null) channel.attach(this.link);
  }

  /** Closes the socket for good. The channels stay unchanged. */
  close(): void {
    this.cancelPoll?.();
    this.connection.close();
    this.link = null;
  }

  private all(): Channel[] {
    return [...this.channels.values()].flat();
  }

  private onWelcome(welcome: VerifiedWelcome): void {
    const { connection } = this;
    this.link = {
      welcome,
      send: (bytes) => connection.send(bytes),
      get writable() {
        return connection.writable;
      },
      whenWritable: (channel) => this.wait(channel),
      drop: (reason) => connection.drop(reason),
      progress: () => connection.progress(),
    };
    this.hooks.onWelcome?.(welcome);
    for (const channel of this.all()) channel.attach(this.link);
  }

  private onDown(): void {
    this.link = null;
    this.byNumber.clear();
    this.starved.clear();
    for (const channel of this.all()) channel.detach();
  }

  private onFrame(frame: ServerFrame): void {
    switch (frame.kind) {
      case 'ready':
        this.onReady(frame);
        break;
      case 'opened': {
        const channel = this.find(frame.publicKey, frame.studyId);
        if (channel === undefined) break;
        this.byNumber.set(frame.channel, channel);
        channel.encrypted?.onOpened(frame);
        break;
      }
      case 'encrypted-ack':
        this.byNumber.get(frame.channel)?.encrypted?.onAck(frame);
        break;
      case 'ack':
        // A batch without a channel is of the only contributor here.
        this.onAck(frame.channel === 0 ? this.all()[0] : this.byNumber.get(frame.channel), frame);
        break;
      case 'notice': {
        const study = toHex(frame.studyId);
        for (const channel of this.all()) {
          if (channel.study?.studyIdHex === study) channel.onNotice(frame);
        }
        break;
      }
      case 'refusal':
        this.onRefusal(frame);
        break;
      case 'welcome':
      case 'release':
      case 'head':
        // This client requested none of these.
        break;
    }
  }

  private find(publicKey: Uint8Array, studyId: Uint8Array): Channel | undefined {
    const study = toHex(studyId);
    return this.channels.get(toHex(publicKey))
      ?.find((channel) => channel.study?.studyIdHex === study);
  }

  private onReady(ready: Ready): void {
    const channel = this.find(ready.publicKey, ready.studyId);
    // On an encrypted channel it is nobody's answer: see `onAck`.
    if (channel?.encrypted !== null) return;
    this.byNumber.set(ready.channel, channel);
    channel.onReady?.(ready);
  }

  /** Anybody on the way can make an ack that is not encrypted. Where they are, it says nothing. */
  private onAck(channel: Channel | undefined, ack: Ack): void {
    if (channel?.encrypted === null) channel.onAck(ack);
  }

  private onRefusal(refusal: Refusal): void {
    if (refusal.channel !== 0) {
      this.byNumber.get(refusal.channel)?.onRefusal(refusal);
    } else if (refusal.publicKey.length > 0 && refusal.studyId.length > 0) {
      this.find(refusal.publicKey, refusal.studyId)?.onRefusal(refusal);
    } else if (refusal.code === 'shutting-down') {
      this.connection.drop(refusal.text);
    } else {
      // The refusal concerns the whole socket: every expected answer may have been dropped.
      for (const channel of this.all()) {
        if (channel.isAwaiting && refusal.retryable) channel.onRefusal(refusal);
      }
    }
  }

  /** Polls the socket's buffer: no platform reports to a client that it has drained. */
  private wait(channel: Pumped): void {
    this.starved.add(channel);
    this.cancelPoll ??= this.options.runtime.after(clientDefaults.socketPollMs, () => {
      this.cancelPoll = null;
      const starved = [...this.starved];
      this.starved.clear();
      for (const one of starved) one.pump();
    });
  }
}
