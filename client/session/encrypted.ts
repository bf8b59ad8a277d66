import { KeelsonError, WireError } from '../../src/base/errors.js';
import type { AsyncSigner } from '../../src/signing/index.js';
import {
  encryptedSubprotocol, type Ack, type EncryptedAck, type Opened, type Ready, type Refusal,
} from '../../src/wire/index.js';
import type { ChannelLink } from './channel-contract.js';
import { Opening } from './opening.js';
import { asKeelsonError } from './outgoing.js';

/** So many sockets in a row without an encrypted channel end a contributor that uses no other. */
export const unencryptedMax = 3;

/** The end of a contributor whose rows go on encrypted channels alone, and that gets none. */
export function lacksEncryption(): KeelsonError {
  return new KeelsonError('unsupported',
    'no encrypted channel is to be had: the server has none, something in between hides it or '
      + 'takes HTTP requests alone, or this machine\'s clock is a day ahead: let WebSockets of '
      + `${encryptedSubprotocol} through, or let rows go signed, too`);
}

/** The channel whose frames are encrypted. */
export interface EncryptedOwner {
  readonly signer: AsyncSigner;
  readonly enrolment: Uint8Array | undefined;
  /** The server sealed it, so it has proved its key. */
  onSealedReady(ready: Ready): void;
  onAck(ack: Ack): void;
  /** The server is none to trust. */
  end(error: KeelsonError): void;
}

/**
 * The encrypted channel of one contributor, in one study, on one socket. Ciphers may be
 * asynchronous, and the number of a frame is its nonce: frames of each direction take their turns
 * here. A frame that the other side did not seal drops the socket. Nothing that it says has been
 * believed then.
 */
export class Encrypted {
  /** The Opens that may still be answered. */
  private openings: readonly Opening[] = [];
  private current: Opening | null = null;
  private isOver = false;
  private received: Promise<void> = Promise.resolve();
  private sent: Promise<void> = Promise.resolve();

  constructor(
    private readonly link: ChannelLink, private readonly owner: EncryptedOwner,
    private readonly studyId: Uint8Array,
  ) {}

  /** Asks for a channel, also in place of the one before. */
  open(): void {
    const { owner, studyId } = this;
    const opening = new Opening(owner, this.link.welcome, studyId);
    this.openings = [...this.openings, opening];
    this.current = null;
    this.sendInTurn(opening.frame, () => true);
  }

  onOpened(opened: Opened): void {
    this.inTurn(async () => {
      // The answer to an Open that was thought lost: another one was quicker.
      if (this.current !== null) return;
      for (const opening of this.openings) {
        const ready = await opening.opened(opened);
        if (ready === null || this.isOver) continue;
        this.openings = this.openings.filter((other) => other !== opening);
        this.current = opening;
        return this.owner.onSealedReady(ready);
      }
      this.drop('an answer to Open is not from the server: somebody may stand in between');
    });
  }

  onAck(frame: EncryptedAck): void {
    this.inTurn(async () => {
      // The last acks of a channel that another one replaces: its batches are sent again there.
      if (this.current?.channel !== frame.channel) return;
      const ack = await this.current.ack(frame);
      if (ack === null) this.drop('an ack is not from the server: somebody may stand in between');
      else if (!this.isOver) this.owner.onAck(ack);
    });
  }

  /** Sends a batch, unless the channel ends before its turn. */
  send(body: Uint8Array): void {
    const opening = this.current!;
    this.sendInTurn(opening.batch(body), () => this.current === opening);
  }

  private sendInTurn(frame: Promise<Uint8Array>, isWanted: () => boolean): void {
    this.sent = Promise.all([frame, this.sent]).then(([bytes]) => {
      if (!this.isOver && isWanted()) this.link.send(bytes);
    }).catch((error: unknown) => {
      // Another socket would show the same share.
      if (!this.isOver && error instanceof WireError) this.owner.end(error);
      else this.drop(asKeelsonError(error).message);
    });
  }

  /**
   * True if a refusal tells that somebody on the way changed, dropped or repeated frames of an
   * encrypted channel: a frame does not open, or an Open came twice. Another socket may get
   * through.
   */
  isInBetween({ code, channel }: Refusal): boolean {
    return code === 'bad-signature' || (code === 'malformed' && channel === 0);
  }

  /** The socket is lost or given up. */
  close(): void {
    this.isOver = true;
  }

  private inTurn(action: () => Promise<void>): void {
    this.received = this.received.then(() => (this.isOver ? undefined : action()))
      .catch((error: unknown) => this.drop(asKeelsonError(error).message));
  }

  private drop(reason: string): void {
    if (!this.isOver) this.link.drop(reason);
  }
}
