import { wireCodes, type WireCode } from '../base/error-codes.js';
import { malformed } from './reader.js';
import type { WireStudyState } from './messages.js';

export const keyBytes = 32;
export const nonceBytes = 32;
export const studyIdBytes = 32;
export const signatureBytes = 64;
export const digestBytes = 64;
/** A server's box key for an epoch of a sealed study, with its signature. */
export const boxKeyBytes = keyBytes + signatureBytes;

const uint32Max = 2 ** 32 - 1;

/** @throws WireError('malformed') unless the value is an integer in 0..2^32-1. */
export function uint32(value: number, name: string): number {
  if (!Number.isInteger(value) || value < 0 || value > uint32Max) {
    throw malformed(`${name} is not in 0..2^32-1`);
  }
  return value;
}

/** The same bytes, checked. @throws WireError('malformed') on another length. */
export function sized(bytes: Uint8Array, length: number, name: string): Uint8Array {
  if (bytes.length !== length) throw malformed(`${name} has ${bytes.length} bytes, not ${length}`);
  return bytes;
}

/**
 * A copy with its own memory, so that the received frame can be freed. Never the shared Buffer that
 * is the generated default.
 */
export function owned(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/**
 * As `owned`, with the last byte just before an 8-byte boundary. Numbers at the end of the bytes,
 * such as the data of a batch, can then be read in place. The memory is at most 7 bytes larger than
 * the bytes.
 */
export function ownedEndAligned(bytes: Uint8Array): Uint8Array {
  const padding = -bytes.length & 7;
  const copy = new Uint8Array(new ArrayBuffer(padding + bytes.length), padding);
  copy.set(bytes);
  return copy;
}

/** As `owned`, with the length checked. */
export function ownSized(bytes: Uint8Array, length: number, name: string): Uint8Array {
  return owned(sized(bytes, length, name));
}

/** Empty, or of the given length. */
export function optionalSized(bytes: Uint8Array, length: number, name: string): Uint8Array {
  return bytes.length === 0 ? bytes : sized(bytes, length, name);
}

/** @throws WireError('malformed') unless the value is one of the allowed ones. */
export function oneOf<T extends string>(value: string, allowed: readonly T[], name: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw malformed(`${name} is not one of ${allowed.join(', ')}`);
  return found;
}

/** @throws WireError('malformed') if a required part is missing. */
export function present<T>(value: T | null | undefined, name: string): T {
  if (value === null || value === undefined) throw malformed(`${name} is missing`);
  return value;
}

export function codeFromWire(value: number): WireCode {
  const code = wireCodes[value];
  if (code === undefined) throw malformed(`code ${value} is not defined`);
  return code;
}

export function codeToWire(code: WireCode): number {
  return wireCodes.indexOf(code);
}

const states: readonly (WireStudyState | undefined)[] = [undefined, 'open', 'exhausted', 'ended'];

export function isWireState(state: unknown): state is WireStudyState {
  return state !== undefined && states.includes(state as WireStudyState);
}

export function stateFromWire(value: number): WireStudyState {
  return present(states[value], 'study state');
}

export function stateToWire(state: WireStudyState): number {
  return states.indexOf(state);
}
