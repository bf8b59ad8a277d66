import { signing } from '#signing';
import { toHex } from '../src/base/bytes.js';
import type { WireCode } from '../src/base/error-codes.js';
import type { WorkRandom } from '../src/random/source.js';
import { signHello, type Signer } from '../src/signing/index.js';
import { encodeClientFrame, type ServerFrame } from '../src/wire/index.js';
import { Connection, type ConnectionOptions } from '../client/session/connection.js';
import { findStudy, type VerifiedWelcome } from '../client/session/handshake.js';
import { abuseFrames, type Abuse } from './attacks/index.js';

/** One hostile contributor of an `AbuseGroup`. */
interface Abuser {
  readonly signer: Signer;
  /** 0 until the server has sent Ready on this socket. */
  channel: number;
  sequence: bigint;
  /** Position of the next abuse in the list. */
  turn: number;
}

export interface AbuseGroupOptions {
  readonly connection: ConnectionOptions;
  readonly study: string;
  readonly signers: readonly Signer[];
  /** Token of each key, by its index in `signers`. Default: none. */
  readonly enrolment?: (publicKey: Uint8Array, index: number) => Uint8Array | undefined;
  /** The abuses that each of them does, in this order. */
  readonly abuses: readonly Abuse[];
  readonly random: WorkRandom;
  readonly onRefused: (code: WireCode) => void;
  readonly onDown: () => void;
}

/**
 * Hostile contributors that break the protocol itself, on a socket of their own. The server may
 * close it at any time, and then they connect again. They do not use the SDK's session, because it
 * would not send such bytes.
 */
export class AbuseGroup {
  private readonly connection: Connection;
  private readonly abusers: Abuser[];
  private readonly byKey = new Map<string, Abuser>();
  private welcome: VerifiedWelcome | null = null;

  constructor(private readonly options: AbuseGroupOptions) {
    this.abusers = options.signers.map((signer, i) => ({
      signer, channel: 0, sequence: 1n, turn: i % options.abuses.length,
    }));
    for (const abuser of this.abusers) this.byKey.set(toHex(abuser.signer.publicKey), abuser);
    this.connection = new Connection(options.connection, {
      pinnedKeys: () => [],
      onWelcome: (welcome) => this.onWelcome(welcome),
      onFrame: (frame) => this.onFrame(frame),
      onDown: () => {
        this.welcome = null;
        for (const abuser of this.abusers) abuser.channel = 0;
        options.onDown();
      },
      onFatal: () => undefined,
      isAwaiting: () => false,
    });
  }

  open(): void {
    this.connection.open();
  }

  close(): void {
    this.connection.close();
  }

  /**
   * Lets one contributor do its next abuse.
   * @param rows honest rows, row-major.
   * @returns false when it has no channel or epoch now.
   */
  act(index: number, epoch: bigint, rows: Float64Array): boolean {
    const abuser = this.abusers[index]!;
    if (this.welcome === null || abuser.channel === 0 || epoch === 0n) return false;
    const study = findStudy(this.welcome, this.options.study);
    const { abuses } = this.options;
    const { frames, consumed } = abuseFrames(abuses[abuser.turn % abuses.length]!, {
      serverKey: this.welcome.server.publicKey,
      studyId: study.studyId,
      signer: abuser.signer,
      channel: abuser.channel,
      epoch,
      columns: study.document.columns.length,
      sequence: abuser.sequence,
      rows,
      random: this.options.random,
    });
    abuser.turn += 1;
    abuser.sequence += BigInt(consumed);
    for (const frame of frames) this.connection.send(frame);
    return true;
  }

  private onWelcome(welcome: VerifiedWelcome): void {
    this.welcome = welcome;
    const study = findStudy(welcome, this.options.study);
    const context = { serverKey: welcome.server.publicKey, studyId: study.studyId };
    for (const [index, { signer }] of this.abusers.entries()) {
      const clientNonce = signing.randomBytes(32);
      const nonces = { serverNonce: welcome.serverNonce, clientNonce };
      const signature = signHello(signer, context, nonces);
      const { publicKey } = signer;
      const enrolment = this.options.enrolment?.(publicKey, index);
      this.connection.send(
        encodeClientFrame({
          kind: 'hello', studyId: study.studyId, publicKey, clientNonce, signature, enrolment,
        }),
      );
    }
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.kind === 'ready') {
      const abuser = this.byKey.get(toHex(frame.publicKey));
      if (abuser === undefined) return;
      abuser.channel = frame.channel;
      abuser.sequence = frame.holes[0] ?? frame.nextSequence;
      this.connection.progress();
    } else if (frame.kind === 'refusal') {
      this.options.onRefused(frame.code);
    } else if (frame.kind === 'ack') {
      for (const rejection of frame.rejections) this.options.onRefused(rejection.code);
    }
  }
}
