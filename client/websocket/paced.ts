import type { ClientRuntime } from '../base/runtime.js';
import type { OpenTransport } from './contract.js';

/** What waits for its turn. */
interface Waiting {
  readonly hand: () => void;
  isReady: boolean;
}

/**
 * A transport whose messages are handed on for at most about `sliceMs` at a time, then the platform gets a turn.
 * Browsers deliver everything that has arrived in one go: a long log, each release of which is verified, would keep a page
 * from drawing and from answering for as long as that takes. Order is kept, and `onClose` still comes last. What waits is
 * held in memory, as it would be in the socket.
 * @param prepare work that a message needs before it is handed on, done elsewhere meanwhile, for many messages at a
 *   time; null when there is none. A message that is not ready holds back those after it.
 */
export function paced(
  open: OpenTransport, runtime: ClientRuntime, sliceMs: number,
  prepare: (bytes: Uint8Array) => Promise<void> | null = () => null,
): OpenTransport {
  return (url, subprotocol, handlers) => {
    let waiting: Waiting[] = [];
    /** Place of the first that was not handed on. */
    let next = 0;
    let isDue = false;
    let isClosed = false;
    const hand = (): void => {
      isDue = false;
      const endsAtMs = runtime.nowMs() + sliceMs;
      // What is handed on may close the transport, which then has nothing more to say.
      while (waiting[next]?.isReady === true && runtime.nowMs() < endsAtMs) waiting[next++]!.hand();
      // Half of it at a time, so that forgetting costs O(1) a message.
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
    const inner = open(url, subprotocol, {
      onOpen: () => handlers.onOpen(),
      onActivity: () => handlers.onActivity(),
      onMessage(bytes) {
        handlers.onActivity();
        if (!isClosed) enqueue(() => handlers.onMessage(bytes), prepare(bytes));
      },
      onClose(reason) {
        // The owner that closed waits for this alone; one that did not gets first what had arrived.
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
