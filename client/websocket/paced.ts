import type { ClientRuntime } from '../base/runtime.js';
import type { OpenTransport } from './contract.js';

/** A message that waits for its turn. */
interface Waiting {
  readonly hand: () => void;
  isReady: boolean;
}

/**
 * A transport that delivers messages for at most about `sliceMs` at a time and then gives the
 * platform a turn. Browsers deliver everything that has arrived at once. The verification of a long
 * log would then keep a page from drawing and responding. Order is kept, and `onClose` still comes
 * last. Waiting messages are held in memory, as they would be in the socket.
 * @param prepare asynchronous work before a message is delivered, in parallel for many messages;
 *   null when there is none.
 * A message that is not ready delays those after it.
 */
export function paced(
  open: OpenTransport, runtime: ClientRuntime, sliceMs: number,
  prepare: (bytes: Uint8Array) => Promise<void> | null = () => null,
): OpenTransport {
  return (url, subprotocols, handlers) => {
    let waiting: Waiting[] = [];
    /** Index of the first message that was not delivered. */
    let next = 0;
    let isDue = false;
    let isClosed = false;
    const hand = (): void => {
      isDue = false;
      const endsAtMs = runtime.nowMs() + sliceMs;
      // Delivering a message may close the transport. Then nothing waits any more.
      while (waiting[next]?.isReady === true && runtime.nowMs() < endsAtMs) waiting[next++]!.hand();
      // Removes half of the messages at a time, so that removal costs O(1) per message.
      if (next > waiting.length / 2) {
        waiting.splice(0, next);
        next = 0;
      }
      if (waiting[next]?.isReady === true) schedule();
    };
    const schedule = (): void => {
      if (!isDue) runtime.after(0, hand);
      isDue = true;
    };
    const enqueue = (action: () => void, work: Promise<void> | null): void => {
      const entry: Waiting = { hand: action, isReady: work === null };
      const ready = (): void => {
        entry.isReady = true;
        schedule();
      };
      waiting.push(entry);
      if (work === null) schedule();
      else work.then(ready, ready);
    };
    const inner = open(url, subprotocols, {
      onOpen: () => handlers.onOpen(),
      onActivity: () => handlers.onActivity(),
      onMessage(message) {
        handlers.onActivity();
        if (isClosed) return;
        const work = message instanceof Uint8Array ? prepare(message) : null;
        enqueue(() => handlers.onMessage(message), work);
      },
      onClose(reason) {
        // After its own close, the owner waits for nothing else. Otherwise it first gets the
        // messages that had arrived.
        if (isClosed) handlers.onClose(reason);
        else enqueue(() => handlers.onClose(reason), null);
      },
    });
    const closing = (end: () => void) => (): void => {
      isClosed = true;
      [waiting, next] = [[], 0];
      end();
    };
    return {
      send: (bytes) => inner.send(bytes),
      get bufferedAmount() {
        return inner.bufferedAmount;
      },
      ping: () => inner.ping(),
      close: closing(() => inner.close()),
      terminate: closing(() => inner.terminate()),
    };
  };
}
