import type { Outbox } from './contract.js';
import { memoryOutbox } from './memory.js';

/**
 * Where there are no files an outbox lives in memory and forgets with the page. Pin the server's key by
 * `serverKey`, and wait for `send` before the page is left.
 * @param location of no use here; kept so that the same code runs on Node.
 */
export async function openOutbox(location: string): Promise<Outbox> {
  void location;
  return memoryOutbox();
}
