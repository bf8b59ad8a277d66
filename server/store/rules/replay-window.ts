import { assert } from '../../../src/base/assert.js';
import { wireCodes, type WireCode } from '../../../src/base/error-codes.js';
import { protocolLimits } from '../../../src/base/limits.js';
import { fingerprintBytes } from './epoch-tables.js';

/**
 * The record of one contributor's sequences in one study.
 *
 * `contiguous`: all sequences up to here are settled. `high`: the highest settled sequence, at most
 * sequenceWindow past `contiguous`. `entries`: one 26-byte record for each stored sequence above
 * `high - sequenceWindow`, in the order of settling:
 *   byte 0       the sequence modulo 256, which identifies it: the window is narrower than 256
 *   byte 1       0 accepted, else the rejection's place in `wireCodes`
 *   bytes 2-9    the study's newest epoch when it was settled (if accepted: the epoch it counts
 *   in),
 *                little-endian
 *   bytes 10-25  fingerprint of the body: its SHA-512 hashed again under that epoch's key, cut to
 *   16
 *                bytes
 * 128 bits suffice. To pass off other bytes, the sender would need a second preimage under a key
 * that it does not know. It would gain a repeated answer; no row would count twice.
 *
 * A sequence at or below `contiguous`, or with an entry, is settled. So nothing counts twice,
 * whatever else is deleted.
 */
export interface ReplayWindow {
  readonly contiguous: number;
  readonly high: number;
  readonly entries: Uint8Array;
}

export interface SettledEntry {
  /** undefined: accepted. */
  readonly code: WireCode | undefined;
  readonly epoch: bigint;
  readonly fingerprint: Uint8Array;
}

const entryBytes = 10 + fingerprintBytes;

export const emptyWindow: ReplayWindow = { contiguous: 0, high: 0, entries: new Uint8Array(0) };

function sequenceOf(window: ReplayWindow, offset: number): number {
  return window.high - ((window.high - window.entries[offset]!) & 255);
}

function offsetOf(window: ReplayWindow, sequence: number): number {
  if (sequence > window.high || sequence <= window.high - protocolLimits.sequenceWindow) return -1;
  const low = sequence & 255;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) {
    if (window.entries[offset] === low) return offset;
  }
  return -1;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The entry of `sequence`; undefined when none is stored. */
export function settledEntry(window: ReplayWindow, sequence: number): SettledEntry | undefined {
  const offset = offsetOf(window, sequence);
  if (offset < 0) return undefined;
  const code = window.entries[offset + 1]!;
  return {
    code: code === 0 ? undefined : wireCodes[code]!,
    epoch: viewOf(window.entries).getBigUint64(offset + 2, true),
    fingerprint: window.entries.subarray(offset + 10, offset + entryBytes),
  };
}

/**
 * Settles `sequence`, which must be unsettled and at most sequenceWindow past `contiguous`. Drops
 * entries that leave the window. Also drops accepted entries at or below `contiguous` whose epoch's
 * key `isForgotten`: they carry no information any more. Rejections stay, so that a sender whose
 * answer was lost does not later hear that its rows count.
 */
export function settle(
  window: ReplayWindow, sequence: number, entry: SettledEntry,
  isForgotten: (epoch: bigint) => boolean,
): ReplayWindow {
  assert(
    sequence > window.contiguous && offsetOf(window, sequence) < 0, 'a sequence is settled once',
  );
  const high = Math.max(window.high, sequence);
  const floor = high - protocolLimits.sequenceWindow;
  const entries = new Uint8Array(window.entries.length + entryBytes);
  const old = viewOf(window.entries);
  let length = 0;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) {
    const at = sequenceOf(window, offset);
    const accepted = window.entries[offset + 1] === 0;
    const silent = accepted && at <= window.contiguous
      && isForgotten(old.getBigUint64(offset + 2, true));
    if (at <= floor || silent) continue;
    entries.set(window.entries.subarray(offset, offset + entryBytes), length);
    length += entryBytes;
  }
  entries[length] = sequence & 255;
  entries[length + 1] = entry.code === undefined ? 0 : wireCodes.indexOf(entry.code);
  viewOf(entries).setBigUint64(length + 2, entry.epoch, true);
  entries.set(entry.fingerprint, length + 10);
  let { contiguous } = window;
  const settled: ReplayWindow = {
    contiguous, high, entries: entries.subarray(0, length + entryBytes),
  };
  while (contiguous < high && offsetOf(settled, contiguous + 1) >= 0) contiguous += 1;
  return { ...settled, contiguous };
}

/** Sequences between `contiguous` and `high` that are not settled, ascending. */
export function holesOf(window: ReplayWindow): bigint[] {
  const holes: bigint[] = [];
  for (let sequence = window.contiguous + 1; sequence < window.high; sequence++) {
    if (offsetOf(window, sequence) < 0) holes.push(BigInt(sequence));
  }
  return holes;
}
