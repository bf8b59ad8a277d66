import type { Outbox } from './contract.js';

/**
 * An outbox that lasts as long as the process. Retries within the process have the same bytes.
 * After a restart unsettled rows are lost, and the first server that proves its key is trusted
 * again.
 */
export function memoryOutbox(): Outbox {
  // The channel itself holds the open items, and nothing is stored for a later run.
  return {
    load: async () => ({ pin: null, items: [], nextSequence: 1n }),
    pin: async () => undefined,
    keep: async () => undefined,
    sign: async () => undefined,
    settle: () => undefined,
    close: async () => undefined,
  };
}
