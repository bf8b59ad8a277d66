import { assert } from '../base/assert.js';
import { WireError } from '../base/errors.js';
import type { FoundKeys } from '../privacy/mechanisms/contract.js';

/** What a table of keys takes. */
export interface KeyTableOptions {
  /**
   * At least 8 secret bytes, fresh for each process. So nobody can choose many keys that meet in
   * one slot.
   */
  readonly secret: Uint8Array;
  /** The most memory that the table may take, in bytes, at most 2^31. */
  readonly bytesMax: number;
}

/** Parts of a key are texts of at most so many bytes of UTF-8. */
const partBytesMax = 255;
/** Slots per key, at least: a search then ends after a few slots. */
const slotsPerKey = 4 / 3;

/**
 * What one key of `keyBytes` bytes may take in a table, at most. A key has a byte for each part
 * besides its text. Slots come in powers of two, and arrays double.
 */
export function keyMemory(keyBytes: number): number {
  return Math.ceil(8 * 2 * slotsPerKey + 2 * 4 + 2 * keyBytes);
}

/** Memory of an empty table, in bytes. */
export const emptyTableBytes = 16_384;

/** The most memory that the table of one question may take, in bytes. */
export const keyTableBytes = 2 ** 30;
/** Bytes of a table for which room can be reserved. */
export const keyRoomBytes = keyTableBytes - emptyTableBytes;

/**
 * Numbers the distinct keys that contributors send, from 0 in the order in which they come.
 *
 * No key is ever dropped. If a full table dropped keys, one contributor's keys would decide whether
 * another's count: one contributor could then change more counts than were charged. For the same
 * reason a table should never be full. `keyMemory` says what a key may take, so a caller can
 * reserve room for as many keys as a contributor may have, whatever they are, and stop taking
 * contributors in time.
 *
 * Memory: 8 bytes for each slot, 4 for each key, and the bytes of each distinct key once.
 * Time: a keyed hash and a few slots for each call. About two million calls a second.
 */
export class KeyTable implements FoundKeys {
  readonly #key0: number;
  readonly #key1: number;
  readonly #bytesMax: number;
  #size = 0;
  /** Two numbers for each slot: the hash, and the place plus one; 0 for a free slot. */
  #slots = new Uint32Array(2 * 512);
  /** Where each key begins in the arena, and where the last one ends. */
  #starts = new Uint32Array(512);
  #arena = new Uint8Array(8_192);
  /** The key that is looked for. */
  #wanted = new Uint8Array(256);
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();

  constructor({ secret, bytesMax }: KeyTableOptions) {
    assert(secret.length >= 8, 'a table of keys has 8 secret bytes');
    assert(bytesMax <= 2 ** 31, 'places in a table of keys are numbers of 32 bits');
    const view = new DataView(secret.buffer, secret.byteOffset, secret.length);
    this.#key0 = view.getInt32(0, true);
    this.#key1 = view.getInt32(4, true);
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Memory that the table takes, in bytes. */
  get bytes(): number {
    return 4 * (this.#slots.length + this.#starts.length) + this.#arena.length;
  }

  /**
   * The place of a key, a new one if the key was not seen before.
   * @param parts - texts of at most 255 bytes, the same number of them in every call.
   * @throws WireError `overloaded` if the table would take more memory than it may. It is then as
   *   it was before.
   */
  placeOf(parts: readonly string[]): number {
    return this.#placeOf(this.#encode(parts));
  }

  compare(left: number, right: number): number {
    let [one, other] = [this.#starts[left]!, this.#starts[right]!];
    const [oneEnd, otherEnd] = [this.#starts[left + 1]!, this.#starts[right + 1]!];
    for (; one < oneEnd && other < otherEnd; one++, other++) {
      const gap = this.#arena[one]! - this.#arena[other]!;
      if (gap !== 0) return gap;
    }
    return (oneEnd - one) - (otherEnd - other);
  }

  partsOf(place: number): readonly string[] {
    assert(place >= 0 && place < this.#size, 'every place has a key');
    const parts: string[] = [];
    const end = this.#starts[place + 1]!;
    for (let at = this.#starts[place]!; at < end;) {
      const next = at + 1 + this.#arena[at]!;
      parts.push(this.#decoder.decode(this.#arena.subarray(at + 1, next)));
      at = next;
    }
    return parts;
  }

  /** Writes the parts to `wanted`, each behind its length. Returns how many bytes they take. */
  #encode(parts: readonly string[]): number {
    const room = parts.length * (partBytesMax + 1);
    if (this.#wanted.length < room) this.#wanted = new Uint8Array(room);
    let at = 0;
    for (const part of parts) {
      const written = this.#encodePart(part, at + 1);
      this.#wanted[at] = written;
      at += 1 + written;
    }
    return at;
  }

  #encodePart(part: string, from: number): number {
    assert(part.length <= partBytesMax, 'a part of a key has at most 255 bytes');
    let at = 0;
    // Most keys are ASCII, and this is faster for them than the encoder.
    for (; at < part.length; at++) {
      const code = part.charCodeAt(at);
      if (code > 127) break;
      this.#wanted[from + at] = code;
    }
    if (at === part.length) return at;
    const { read, written } = this.#encoder
      .encodeInto(part, this.#wanted.subarray(from, from + partBytesMax));
    assert(read === part.length, 'a part of a key has at most 255 bytes');
    return written;
  }

  /** The place of the first `length` bytes of `wanted`. */
  #placeOf(length: number): number {
    const hash = halfSipHash(this.#wanted, length, this.#key0, this.#key1);
    const mask = this.#slots.length / 2 - 1;
    let slot = hash & mask;
    for (;; slot = (slot + 1) & mask) {
      const found = this.#slots[2 * slot + 1]!;
      if (found === 0) break;
      if (this.#slots[2 * slot] === hash && this.#isWanted(found - 1, length)) return found - 1;
    }
    if (this.#grow(length)) slot = this.#freeSlot(hash);
    const place = this.#size;
    const start = this.#starts[place]!;
    for (let i = 0; i < length; i++) this.#arena[start + i] = this.#wanted[i]!;
    this.#starts[place + 1] = start + length;
    this.#slots[2 * slot] = hash;
    this.#slots[2 * slot + 1] = place + 1;
    this.#size += 1;
    return place;
  }

  #isWanted(place: number, length: number): boolean {
    const start = this.#starts[place]!;
    if (this.#starts[place + 1]! - start !== length) return false;
    for (let i = 0; i < length; i++) {
      if (this.#arena[start + i] !== this.#wanted[i]) return false;
    }
    return true;
  }

  #freeSlot(hash: number): number {
    const mask = this.#slots.length / 2 - 1;
    let slot = hash & mask;
    while (this.#slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  /** Makes room for one more key. Returns whether slots have moved. */
  #grow(keyBytes: number): boolean {
    const slots = (this.#size + 1) * slotsPerKey > this.#slots.length / 2
      ? 2 * this.#slots.length : this.#slots.length;
    const starts = this.#size + 2 > this.#starts.length
      ? 2 * this.#starts.length : this.#starts.length;
    const used = this.#starts[this.#size]! + keyBytes;
    const arena = used > this.#arena.length
      ? Math.max(used, 2 * this.#arena.length) : this.#arena.length;
    if (4 * (slots + starts) + arena > this.#bytesMax) throw full(this.#bytesMax);
    if (starts > this.#starts.length) {
      const larger = new Uint32Array(starts);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    if (arena > this.#arena.length) {
      const larger = new Uint8Array(arena);
      larger.set(this.#arena);
      this.#arena = larger;
    }
    if (slots === this.#slots.length) return false;
    this.#rehash(slots);
    return true;
  }

  #rehash(length: number): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at + 1] === 0) continue;
      const slot = this.#freeSlot(before[at]!);
      this.#slots[2 * slot] = before[at]!;
      this.#slots[2 * slot + 1] = before[at + 1]!;
    }
  }
}

function full(bytesMax: number): WireError {
  return new WireError(
    'overloaded',
    `the keys of this epoch would take more memory than the limit of ${bytesMax} bytes: `
      + 'allow fewer keys for each contributor, shorter keys, or more memory',
    { details: { bytesMax } },
  );
}

/**
 * HalfSipHash-1-3, a keyed hash of 32 bits (Aumasson and Bernstein). Without the key nobody can
 * find texts with equal hashes. Nothing but the speed of the table relies on this: keys with equal
 * hashes are compared in full.
 */
function halfSipHash(bytes: Uint8Array, length: number, key0: number, key1: number): number {
  let [v0, v1, v2, v3] = [key0, key1, 0x6c796765 ^ key0, 0x74656462 ^ key1];
  const words = length >>> 2;
  // One round for each word, one for the rest, and three after them.
  for (let i = 0; i < words + 4; i++) {
    let word = 0;
    if (i < words) {
      const at = 4 * i;
      word = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24;
    } else if (i === words) {
      word = length << 24;
      for (let at = 4 * words; at < length; at++) word |= bytes[at]! << (8 * (at & 3));
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0; v1 = (v1 << 5 | v1 >>> 27) ^ v0; v0 = v0 << 16 | v0 >>> 16;
    v2 = (v2 + v3) | 0; v3 = (v3 << 8 | v3 >>> 24) ^ v2;
    v0 = (v0 + v3) | 0; v3 = (v3 << 7 | v3 >>> 25) ^ v0;
    v2 = (v2 + v1) | 0; v1 = (v1 << 13 | v1 >>> 19) ^ v2; v2 = v2 << 16 | v2 >>> 16;
    v0 ^= word;
    if (i === words) v2 ^= 0xff;
  }
  return (v1 ^ v3) >>> 0;
}
