import type { ClientRuntime } from '../runtime.js';
import type { OpenTransport } from './contract.js';

/**
 * A transport whose messages are handed on for at most about `sliceMs` at a time, then the platform gets a turn.
 * Browsers deliver everything that has arrived in one go: a long log, each release of which is verified, would keep a page
 * from drawing and from answering for as long as that takes. Order is kept, and `onClose` still comes last. What waits is
 * held in memory, as it would be in the socket.
 */
export function paced(open: OpenTransport, runtime: ClientRuntime, sliceMs: number): OpenTransport {
  return (url, subprotocol, handlers) => {
    let waiting: (() => void)[] = [];
    /** Place of the first that was not handed on. */
    let next = 0;
    let isDue = false;
    let isClosed = false;
    const hand = (): void => {
      isDue = false;
      const endsAtMs = runtime.nowMs() + sliceMs;
      // What is handed on may close the transport, which then has nothing more to say.
      while (next < waiting.length && runtime.nowMs() < endsAtMs) waiting[next++]!();
      // Half of it at a time, so that forgetting costs O(1) a message.
      if (next > waiting.length / 2) {
        waiting.splice(0, next);
        next = 0;
      }
      if (next < waiting.length) schedule();
    };
    const schedule = (): void => {
      if (!isDue) runtime.after(0, hand);
      isDue = true;
    };
    const enqueue = (action: () => void): void => {
      waiting.push(action);
      schedule();
    };
    const inner = open(url, subprotocol, {
      onOpen: () => handlers.onOpen(),
      onActivity: () => handlers.onActivity(),
      onMessage(bytes) {
        handlers.onActivity();
        if (!isClosed) enqueue(() => handlers.onMessage(bytes));
      },
      onClose(reason) {
        // The owner that closed waits for this alone; one that did not gets first what had arrived.
        if (isClosed) handlers.onClose(reason);
        else enqueue(() => handlers.onClose(reason));
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
