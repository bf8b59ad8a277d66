import { wireCodes, type WireCode } from '../../../src/base/error-codes.js';
import { limits } from '../../../src/base/limits.js';

/**
 * What is remembered of one contributor's sequences in one study.
 *
 * `contiguous`: everything up to here is settled. `high`: the highest settled sequence, at most sequenceWindow past
 * `contiguous`. `entries`: one 26-byte record for each remembered sequence above `high - sequenceWindow`, in the order of settling:
 *   byte 0       the sequence modulo 256, which names it: the window is narrower than 256
 *   byte 1       0 accepted, 255 settled but forgotten, else the rejection's place in `wireCodes`
 *   bytes 2-9    the study's newest epoch when it was settled (for accepted: the epoch it counts in), little-endian
 *   bytes 10-25  the first 16 bytes of the body's SHA-512
 * A prefix of 128 bits suffices: the sender would need a second preimage to pass off other bytes, and the gain
 * would be a repeated answer, never a second counting.
 *
 * A sequence at or below `contiguous`, or with an entry, is settled: whatever else is forgotten, nothing counts twice.
 */
export interface ReplayWindow {
  readonly contiguous: number;
  readonly high: number;
  readonly entries: Uint8Array;
}

export interface SettledEntry {
  /** undefined: accepted. 'forgotten': the verdict was purged with the digest. */
  readonly code: WireCode | 'forgotten' | undefined;
  readonly epoch: bigint;
  readonly sameDigest: boolean;
}

const entryBytes = 26;
const digestBytes = 16;
const forgottenCode = 255;

export const emptyWindow: ReplayWindow = { contiguous: 0, high: 0, entries: new Uint8Array(0) };

function sequenceOf(window: ReplayWindow, offset: number): number {
  return window.high - ((window.high - window.entries[offset]!) & 255);
}

function offsetOf(window: ReplayWindow, sequence: number): number {
  if (sequence > window.high || sequence <= window.high - limits.sequenceWindow) return -1;
  const low = sequence & 255;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) if (window.entries[offset] === low) return offset;
  return -1;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The entry of `sequence`, compared with `digest`; undefined when none is remembered. */
export function settledEntry(window: ReplayWindow, sequence: number, digest: Uint8Array): SettledEntry | undefined {
  const offset = offsetOf(window, sequence);
  if (offset < 0) return undefined;
  const code = window.entries[offset + 1]!;
  const epoch = viewOf(window.entries).getBigUint64(offset + 2, true);
  if (code === forgottenCode) return { code: 'forgotten', epoch, sameDigest: true };
  let sameDigest = true;
  for (let i = 0; i < digestBytes; i++) if (window.entries[offset + 10 + i] !== digest[i]) sameDigest = false;
  return { code: code === 0 ? undefined : wireCodes[code]!, epoch, sameDigest };
}

/** The newest epoch in which something was settled; -1n when nothing is remembered. */
export function newestEpochOf(window: ReplayWindow): bigint {
  if (window.entries.length === 0) return -1n;
  return viewOf(window.entries).getBigUint64(window.entries.length - entryBytes + 2, true);
}

/**
 * Settles `sequence`, which must not be settled yet and at most sequenceWindow past `contiguous`; entries that leave
 * the window are dropped.
 */
export function settle(
  window: ReplayWindow, sequence: number, code: WireCode | undefined, epoch: bigint, digest: Uint8Array,
): ReplayWindow {
  const high = Math.max(window.high, sequence);
  const floor = high - limits.sequenceWindow;
  const entries = new Uint8Array(window.entries.length + entryBytes);
  let length = 0;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) {
    if (sequenceOf(window, offset) <= floor) continue;
    entries.set(window.entries.subarray(offset, offset + entryBytes), length);
    length += entryBytes;
  }
  entries[length] = sequence & 255;
  entries[length + 1] = code === undefined ? 0 : wireCodes.indexOf(code);
  viewOf(entries).setBigUint64(length + 2, epoch, true);
  entries.set(digest.subarray(0, digestBytes), length + 10);
  const settled: ReplayWindow = { contiguous: window.contiguous, high, entries: entries.subarray(0, length + entryBytes) };
  let contiguous = settled.contiguous;
  while (contiguous < high && offsetOf(settled, contiguous + 1) >= 0) contiguous += 1;
  return { ...settled, contiguous };
}

/**
 * Forgets digests and verdicts of entries settled before `epoch`: they are fingerprints of rows, and few possible rows
 * could be guessed from them after the rows themselves were purged. Those above `contiguous` stay as settled, without
 * digest; the others need no entry. Such sequences are answered as duplicates. The same object when nothing changes.
 */
export function forget(window: ReplayWindow, epoch: bigint): ReplayWindow {
  const view = viewOf(window.entries);
  let stale = false;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) {
    if (view.getBigUint64(offset + 2, true) < epoch && window.entries[offset + 1] !== forgottenCode) stale = true;
  }
  if (!stale) return window;
  const entries = new Uint8Array(window.entries.length);
  let length = 0;
  for (let offset = 0; offset < window.entries.length; offset += entryBytes) {
    const old = view.getBigUint64(offset + 2, true) < epoch;
    if (old && sequenceOf(window, offset) <= window.contiguous) continue;
    entries.set(window.entries.subarray(offset, offset + entryBytes), length);
    if (old) {
      entries[length + 1] = forgottenCode;
      entries.fill(0, length + 10, length + entryBytes);
    }
    length += entryBytes;
  }
  return { ...window, entries: entries.subarray(0, length) };
}

/** Sequences between `contiguous` and `high` that are not settled, ascending. */
export function holesOf(window: ReplayWindow): bigint[] {
  const holes: bigint[] = [];
  for (let sequence = window.contiguous + 1; sequence < window.high; sequence++) {
    if (offsetOf(window, sequence) < 0) holes.push(BigInt(sequence));
  }
  return holes;
}
