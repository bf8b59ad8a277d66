import type { Outbox } from './contract.js';

/**
 * An outbox that forgets with the process. Retries within the process are still the same bytes; after a restart
 * unsettled rows are gone and the server's key is trusted anew.
 */
export function memoryOutbox(): Outbox {
  // The channel itself holds what is open: there is nothing to remember for a later run.
  return {
    load: async () => ({ pin: null, items: [] }),
    pin: async () => undefined,
    keep: async () => undefined,
    sign: async () => undefined,
    settle: () => undefined,
    close: async () => undefined,
  };
}
