import { KeelsonError } from '../../src/base/errors.js';
import type { ChannelLink } from './channel-contract.js';

interface Asked {
  readonly resolve: (epoch: bigint) => void;
  readonly reject: (error: KeelsonError) => void;
  /** 0n until it is first sent, if the caller named none. */
  epoch: bigint;
  /** The socket on which it was sent last. */
  link: ChannelLink | null;
}

/**
 * A request to take back the rows of an epoch. There is at most one. It is repeated on each socket
 * until answered.
 */
export class Withdrawal {
  private asked: Asked | null = null;

  /**
   * @param epoch 0n: the one that is open when it is sent. @returns the epoch, once the server has
   *   answered.
   */
  ask(epoch: bigint): Promise<bigint> {
    const replaced = 'a later call of withdraw took the place of this one: await each';
    this.fail(new KeelsonError('closed', replaced));
    return new Promise((resolve, reject) => {
      this.asked = { resolve, reject, epoch, link: null };
    });
  }

  /**
   * The epoch to ask for on this socket now; null when there is no request, it was sent on this
   * socket before, or it waits for an epoch to open (`openEpoch` is 0n).
   */
  due(link: ChannelLink | null, openEpoch: bigint): bigint | null {
    const { asked } = this;
    if (asked === null || asked.link === link) return null;
    asked.epoch ||= openEpoch;
    if (asked.epoch === 0n) return null;
    asked.link = link;
    return asked.epoch;
  }

  /** The server deferred the request. It may be sent again on the same socket. */
  again(): void {
    if (this.asked !== null) this.asked.link = null;
  }

  answer(epoch: bigint): void {
    this.asked?.resolve(epoch);
    this.asked = null;
  }

  fail(error: KeelsonError): void {
    this.asked?.reject(error);
    this.asked = null;
  }
}
