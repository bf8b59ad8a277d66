import { signing } from '#signing';
import { concatBytes, equalBytes, utf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';

/** The first bytes of every outbox file; the digit is the version of the format. */
export const fileMagic = utf8('keelson outbox 1\n');

/** 4 bytes length, 16 bytes digest. */
const headBytes = 20;
const digestBytes = 16;

/**
 * One write: length of the payload (little-endian), the first 16 bytes of SHA-512 over length and
 * payload, payload. Each write is one frame, so a crash can tear only the last frame of a file.
 */
export function encodeFrame(payload: Uint8Array): Uint8Array {
  const length = lengthField(payload.length);
  return concatBytes(length, digest(length, payload), payload);
}

export interface FrameScan {
  readonly payloads: readonly Uint8Array[];
  /** Length of the intact part of the file; less than the file's length when the tail is torn. */
  readonly goodBytes: number;
}

/**
 * Reads a whole outbox file.
 * A crash leaves a bad frame at the end of the file. That frame was never durable, so nothing
 * depends on it. A bad frame with more behind it is damage to durable contents.
 * @throws KeelsonError('outbox-failed') for damage, or a file that is not an outbox.
 */
export function scanFrames(file: Uint8Array): FrameScan {
  if (file.length < fileMagic.length && equalBytes(file, fileMagic.subarray(0, file.length))) {
    return { payloads: [], goodBytes: 0 };
  }
  if (!equalBytes(file.subarray(0, fileMagic.length), fileMagic)) {
    throw new KeelsonError(
      'outbox-failed', 'this file is not an outbox of this version: name another file',
    );
  }
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const payloads: Uint8Array[] = [];
  let at = fileMagic.length;
  while (at < file.length) {
    if (file.length - at < headBytes) break;
    const length = view.getUint32(at, true);
    const end = at + headBytes + length;
    const payload = file.subarray(at + headBytes, Math.min(end, file.length));
    const found = file.subarray(at + 4, at + 4 + digestBytes);
    if (end > file.length || !equalBytes(found, digest(file.subarray(at, at + 4), payload))) {
      if (end < file.length && file.subarray(end).some((byte) => byte !== 0)) {
        throw new KeelsonError(
          'outbox-failed',
          `the outbox is damaged at byte ${at}, before its end: restore a copy, or move it away `
            + 'and accept the loss',
          { details: { offset: at } },
        );
      }
      break;
    }
    payloads.push(payload);
    at = end;
  }
  return { payloads, goodBytes: at };
}

function lengthField(length: number): Uint8Array {
  const field = new Uint8Array(4);
  new DataView(field.buffer).setUint32(0, length, true);
  return field;
}

function digest(length: Uint8Array, payload: Uint8Array): Uint8Array {
  return signing.sha512(concatBytes(length, payload)).subarray(0, digestBytes);
}
