import { log2 } from '../base/elementary.js';
import { assert } from '../base/assert.js';
import { writeUtf8 } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import type { FoundKeys } from '../privacy/mechanisms/contract.js';

/** Options of a table of keys. */
export interface KeyTableOptions {
  /**
   * At least 8 secret bytes, fresh for each process. So nobody can choose many keys that meet in
   * one slot.
   */
  readonly secret: Uint8Array;
  /** The most memory that the table may take, in bytes, at most 2^31. */
  readonly bytesMax: number;
}

/** Parts of a key are texts of at most this many bytes of UTF-8. */
const partBytesMax = 255;
/** Slots per key, at least: a search then ends after a few slots. */
const slotsPerKey = 4 / 3;
const firstSlots = 512;
/** Keys are kept in pieces of this many bytes, so that growth copies nothing. A power of two. */
const pieceBytes = 2 ** 16;
const pieceBits = log2(pieceBytes);
/** Places of keys are kept in pieces of this many numbers. A power of two. */
const pieceStarts = 2 ** 14;
const startsBits = log2(pieceStarts);

/**
 * The most memory that a key of at most `keyBytes` bytes takes in a table. A key has a byte for
 * each part besides its text. Slots come in powers of two. No key crosses the end of a piece, so a
 * piece may end with fewer than `keyBytes` free bytes.
 */
export function keyMemory(keyBytes: number): number {
  const unused = pieceBytes / (pieceBytes - keyBytes);
  return Math.ceil(4 * 2 * slotsPerKey + 4 + keyBytes * unused);
}

/** Memory of an empty table, in bytes: its slots and one piece of each kind. */
export const emptyTableBytes = 4 * firstSlots + 4 * pieceStarts + pieceBytes;

/** The most memory that the table of one question may take, in bytes. */
export const keyTableBytes = 2 ** 31;
/** Bytes that the tables of all questions of one epoch may take. So one table may take them. */
export const keyRoomBytes = keyTableBytes - emptyTableBytes;

/** Limits of the keys that one question discovers. */
export interface DiscoveredKeys {
  /** The most keys of one contributor that count. */
  readonly groupsMax: number;
  /** The most memory of one key, with what is added up under it, in bytes. */
  readonly keyMemory: number;
}

/**
 * The most bytes that the keys of `rowsMax` rows of one contributor may take in the tables of all
 * questions together. A row has one key for each question, and at most `groupsMax` keys of a
 * contributor count. So the sum over an epoch's contributors bounds what the keys of the epoch
 * take, whatever they are.
 * @param discovered - of each question that discovers keys. None: 0.
 */
export function keyRoomOf(discovered: readonly DiscoveredKeys[], rows: number): number {
  return discovered.reduce((sum, { groupsMax, keyMemory: bytes }) =>
    sum + Math.min(rows, groupsMax) * bytes, 0);
}

/** The most memory that the tables of one epoch take with this many people, in bytes. */
export function keyMemoryOf(
  discovered: readonly DiscoveredKeys[], rowsMax: number, people: number,
): number {
  return people * keyRoomOf(discovered, rowsMax) + discovered.length * emptyTableBytes;
}

/**
 * Numbers the distinct keys that contributors send, from 0 in the order in which they come.
 *
 * No key is ever dropped. If a full table dropped keys, one contributor's keys would decide whether
 * another's count: one contributor could then change more counts than were charged. For the same
 * reason a table should never be full. `keyMemory` says what a key may take, so a caller can
 * reserve room for as many keys as a contributor may have, whatever they are, and stop taking
 * contributors in time.
 *
 * Memory: 4 bytes for each slot, 4 for each key, and the bytes of each distinct key once. When the
 * slots grow, the old ones are let go first: the new ones are filled from the keys.
 * Time: a keyed hash and a few slots for each call. About two million calls a second.
 */
export class KeyTable implements FoundKeys {
  readonly #key0: number;
  readonly #key1: number;
  readonly #bytesMax: number;
  #size = 0;
  /** The parts of every key. */
  #parts = 0;
  /**
   * 0 for a free slot. The low bits, as many as number the slots, are the place of a key plus one.
   * The high bits are those of its hash, so few other keys are compared.
   */
  #slots = new Uint32Array(firstSlots);
  /** Where each key begins: the number of its piece, and the byte in it. */
  readonly #starts = [new Uint32Array(pieceStarts)];
  readonly #pieces = [new Uint8Array(pieceBytes)];
  /** Bytes used of the last piece. */
  #used = 0;
  /** The key that is looked for. */
  #wanted = new Uint8Array(256);
  readonly #decoder = new TextDecoder();

  constructor({ secret, bytesMax }: KeyTableOptions) {
    assert(secret.length >= 8, 'a table of groups has 8 secret bytes');
    assert(bytesMax <= 2 ** 31, 'places in a table of groups are numbers of 32 bits');
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
    return 4 * this.#slots.length + 4 * pieceStarts * this.#starts.length
      + pieceBytes * this.#pieces.length;
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

  find(parts: readonly string[]): number {
    if (this.#size === 0) return -1;
    const length = this.#encode(parts);
    return this.#search(halfSipHash(this.#wanted, 0, length, this.#key0, this.#key1), length);
  }

  compare(left: number, right: number): number {
    const [one, oneStart] = this.#keyAt(left);
    const [other, otherStart] = this.#keyAt(right);
    const oneBytes = this.#lengthOf(one, oneStart);
    const otherBytes = this.#lengthOf(other, otherStart);
    const shorter = Math.min(oneBytes, otherBytes);
    for (let i = 0; i < shorter; i++) {
      const gap = one[oneStart + i]! - other[otherStart + i]!;
      if (gap !== 0) return gap;
    }
    return oneBytes - otherBytes;
  }

  partsOf(place: number): readonly string[] {
    assert(place >= 0 && place < this.#size, 'every place has a group');
    const [piece, start] = this.#keyAt(place);
    const parts: string[] = [];
    for (let at = start; parts.length < this.#parts;) {
      const next = at + 1 + piece[at]!;
      parts.push(this.#decoder.decode(piece.subarray(at + 1, next)));
      at = next;
    }
    return parts;
  }

  /** The piece that a key is in, and where it begins there. */
  #keyAt(place: number): readonly [piece: Uint8Array, start: number] {
    const start = this.#startOf(place);
    return [this.#pieces[start >>> pieceBits]!, start & (pieceBytes - 1)];
  }

  #startOf(place: number): number {
    return this.#starts[place >>> startsBits]![place & (pieceStarts - 1)]!;
  }

  #lengthOf(piece: Uint8Array, start: number): number {
    let at = start;
    for (let part = 0; part < this.#parts; part++) at += 1 + piece[at]!;
    return at - start;
  }

  /** Writes the parts to `wanted`, each behind its length. Returns how many bytes they take. */
  #encode(parts: readonly string[]): number {
    if (this.#size === 0) this.#parts = parts.length;
    assert(parts.length === this.#parts, 'all groups of a table have the same number of parts');
    const room = parts.length * (partBytesMax + 1);
    if (this.#wanted.length < room) this.#wanted = new Uint8Array(room);
    let at = 0;
    for (const part of parts) {
      const written = writeUtf8(part, this.#wanted, at + 1);
      assert(written >= 0 && written <= partBytesMax, 'a part of a group has at most 255 bytes');
      this.#wanted[at] = written;
      at += 1 + written;
    }
    return at;
  }

  /** The place of the first `length` bytes of `wanted`. */
  #placeOf(length: number): number {
    const hash = halfSipHash(this.#wanted, 0, length, this.#key0, this.#key1);
    const known = this.#search(hash, length);
    if (known >= 0) return known;
    this.#grow(length);
    this.#keep(length);
    this.#fill(hash, this.#size);
    this.#size += 1;
    return this.#size - 1;
  }

  /** The place of a key that was seen, or -1. */
  #search(hash: number, length: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const found = slots[slot]!;
      if (((found ^ hash) & ~mask) === 0) {
        const place = (found & mask) - 1;
        if (this.#isWanted(place, length)) return place;
      }
    }
    return -1;
  }

  /** Equal bytes are equal keys: each part stands behind its length. */
  #isWanted(place: number, length: number): boolean {
    const start = this.#startOf(place);
    const piece = this.#pieces[start >>> pieceBits]!;
    const from = start & (pieceBytes - 1);
    if (from + length > pieceBytes) return false;
    for (let i = 0; i < length; i++) if (piece[from + i] !== this.#wanted[i]) return false;
    return true;
  }

  /** Keeps the first `length` bytes of `wanted` as the next key. */
  #keep(length: number): void {
    const piece = this.#pieces.at(-1)!;
    const starts = this.#starts.at(-1)!;
    starts[this.#size & (pieceStarts - 1)] = (this.#pieces.length - 1) * pieceBytes + this.#used;
    for (let i = 0; i < length; i++) piece[this.#used + i] = this.#wanted[i]!;
    this.#used += length;
  }

  /** Puts a place into the first free slot for its hash. Places are smaller than the mask. */
  #fill(hash: number, place: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = (hash & ~mask) | (place + 1);
  }

  /** Makes room for one more key. */
  #grow(keyBytes: number): void {
    const needsSlots = (this.#size + 1) * slotsPerKey > this.#slots.length;
    const needsStarts = this.#size === pieceStarts * this.#starts.length;
    const needsPiece = this.#used + keyBytes > pieceBytes;
    const more = (needsSlots ? 4 * this.#slots.length : 0) + (needsStarts ? 4 * pieceStarts : 0)
      + (needsPiece ? pieceBytes : 0);
    if (this.bytes + more > this.#bytesMax) throw full(this.#bytesMax);
    if (needsStarts) this.#starts.push(new Uint32Array(pieceStarts));
    if (needsPiece) {
      this.#pieces.push(new Uint8Array(pieceBytes));
      this.#used = 0;
    }
    if (needsSlots) this.#fillSlots(2 * this.#slots.length);
  }

  #fillSlots(count: number): void {
    this.#slots = new Uint32Array(0);
    this.#slots = new Uint32Array(count);
    for (let place = 0; place < this.#size; place++) {
      const start = this.#startOf(place);
      const piece = this.#pieces[start >>> pieceBits]!;
      const from = start & (pieceBytes - 1);
      const length = this.#lengthOf(piece, from);
      this.#fill(halfSipHash(piece, from, length, this.#key0, this.#key1), place);
    }
  }
}

function full(bytesMax: number): WireError {
  return new WireError(
    'overloaded',
    `the groups of this epoch would take more memory than the limit of ${bytesMax} bytes: `
      + 'allow fewer groups for each contributor, shorter groups, or more memory',
    { details: { bytesMax } },
  );
}

/**
 * HalfSipHash-1-3, a keyed hash of 32 bits (Aumasson and Bernstein). Without the key nobody can
 * find texts with equal hashes. Nothing but the speed of the table relies on this: keys with equal
 * hashes are compared in full.
 */
function halfSipHash(
  bytes: Uint8Array, from: number, length: number, key0: number, key1: number,
): number {
  let [v0, v1, v2, v3] = [key0, key1, 0x6c796765 ^ key0, 0x74656462 ^ key1];
  const words = length >>> 2;
  // One round for each word, one for the rest, and three after them.
  for (let i = 0; i < words + 4; i++) {
    let word = 0;
    if (i < words) {
      const at = from + 4 * i;
      word = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24;
    } else if (i === words) {
      word = length << 24;
      for (let at = 4 * words; at < length; at++) word |= bytes[from + at]! << (8 * (at & 3));
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
