import { assert } from '../../base/assert.js';
import { servers } from '../shares/body.js';
import type { Party } from './party.js';
import { addInto, subtractFrom } from './words.js';

/**
 * One server's list of a sum, after it has verified the proofs of all messages that led to it. An
 * opening takes nothing else, so a step that opens what was not verified does not compile.
 */
export class Verified {
  private constructor(readonly own: Uint32Array, readonly step: number) {}

  /**
   * Proves the messages of this server, and verifies those of the others.
   * @param own - pairs of words. @throws ProofError where a message is wrong.
   */
  static async of(party: Party, own: Uint32Array): Promise<Verified> {
    await party.proofs?.verify();
    return new Verified(own, party.rounds);
  }
}

/**
 * Opens the sum of one list of each server. Server i adds F_i - F_{i+1} to its list and sends it to
 * both others; the blocks cancel in the sum. One round; 8 bytes for each number, to each other.
 * Opened values must be noised already: only privacy/mechanisms calls this.
 *
 * Claim. What a server receives is made from its own list, its streams and the sum.
 * Why. Server i receives u_{i+1}, which contains -F_{i+2}, and u_{i+2}, which contains +F_{i+2}. It
 * does not hold that stream, so the two are uniform given their sum, which is the opened sum less
 * u_i.
 * @returns the sum modulo p, in pairs of words.
 */
export async function openSum(party: Party, { own, step }: Verified): Promise<Uint32Array> {
  assert(party.rounds === step, 'nothing is sent between a verification and its opening');
  party.begin();
  const masked = own.slice();
  addInto(masked, party.ownNumbers(own.length / 2));
  subtractFrom(masked, party.nextNumbers(own.length / 2));
  const others = servers.filter((server) => server !== party.server);
  for (const other of others) party.send(other, masked);
  const received = await Promise.all(others.map((other) =>
    party.receiveNumbers(other, own.length / 2)));
  for (const words of received) addInto(masked, words);
  party.noteOpened(masked);
  return masked;
}
