import type { ServerIndex } from '../shares/body.js';
import type { Shares } from './shares.js';

/** Blocks of the streams of a server's two components. */
export interface Masks {
  readonly own: Uint32Array;
  readonly next: Uint32Array;
}

/** An `and` as this server saw it: bits, 32 to a word. */
export interface AndMessage {
  readonly x: Shares<'bits'>;
  readonly y: Shares<'bits'>;
  readonly masks: Masks;
  /** To the server before. */
  readonly sent: Uint32Array;
  /** From the server after. */
  readonly received: Uint32Array;
}

/**
 * One side of statements u_1 w_1 + .. + u_n w_n = l + r about messages of numbers, in pairs of
 * words. The left side has u and l, the right one w and r.
 */
export interface StatementSide {
  /** `terms` factors for each message. */
  readonly factors: Uint32Array;
  /** One for each message. */
  readonly claims: Uint32Array;
}

/** Messages of numbers from one server, as far as this server knows both sides of them. */
export interface NumberMessages {
  readonly prover: ServerIndex;
  /** Products in the statement of each message. */
  readonly terms: number;
  /** Null at the server after the prover. */
  readonly left: StatementSide | null;
  /** Null at the server before the prover. */
  readonly right: StatementSide | null;
}

/**
 * Keeps what was sent until it is proved. All three servers note the same messages in the same
 * order.
 *
 * Server P sent a message. The server before it and P hold component P and its stream: the left
 * side of a statement about the message. P and the server after it hold component P + 1 and its
 * stream, the right side. A statement is made of what a verifier holds itself, whatever P thinks.
 */
export interface MessageProofs {
  /** May prove what was noted before, when that is much. */
  noteAnds(message: AndMessage): Promise<void>;
  noteNumbers(messages: readonly NumberMessages[]): Promise<void>;
  /** Proves and verifies all that was noted. @throws ProofError where a message is wrong. */
  verify(): Promise<void>;
}
