import type { Run } from '../../numerics/kernels/prime-vectors.js';
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
 * A list of the left side and one of the right side, in pairs of words. A run multiplies places of
 * the two, and its sums are the statements' places. Public.
 */
export interface StatementPart {
  /** Numbers of the left list. */
  readonly length: number;
  readonly runs: readonly Run[];
}

/**
 * Statements about messages of numbers from one server, as far as another knows them. Each says
 * that a sum of products of a number of the left side and one of the right side is l + r, where
 * the left side knows l, and the right side r. The lists are not changed afterwards.
 */
export interface NumberMessages {
  readonly prover: ServerIndex;
  /** Messages, each with a statement of its own. */
  readonly count: number;
  readonly parts: readonly StatementPart[];
  /** The left side's list of each part; null at the server after the prover. */
  readonly left: readonly Uint32Array[] | null;
  /** The right side's list of each part; null at the server before the prover. */
  readonly right: readonly Uint32Array[] | null;
  /** This verifier's l or r of each statement; null at the prover. */
  readonly claims: Uint32Array | null;
}

/** The part of statements with one product each. */
export function onePart(count: number): readonly StatementPart[] {
  return [{
    length: count, runs: [{ left: 0, right: 0, sum: 0, isOneSum: false, length: count }],
  }];
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
