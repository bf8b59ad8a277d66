import { StateReader, StateWriter } from './codec.js';

interface Member {
  readonly tag: bigint;
  readonly row: Float64Array;
}

/**
 * The members of the slots of one group of an arm of pairs. A slot's pair is its two members with
 * the smallest tags; a slot with fewer members has no pair. So one contributor more or less changes
 * one pair and no other.
 */
export class PairSlots {
  readonly #slots = new Map<number, Member[]>();

  add(slot: number, tag: bigint, row: Float64Array): void {
    const members = this.#slots.get(slot) ?? [];
    members.push({ tag, row: row.slice() });
    members.sort(byTagThenValue);
    this.#slots.set(slot, members.slice(0, 2));
  }

  /**
   * Adds the members of other slots: of all members of a slot the two with the smallest tags stay.
   */
  addAll(other: PairSlots): void {
    for (const [slot, members] of other.#slots) {
      for (const { tag, row } of members) this.add(slot, tag, row);
    }
  }

  /** The pairs in order of slot: (first - second) / sqrt 2, under the tag of the first. */
  *pairs(): Generator<Member> {
    for (const slot of [...this.#slots.keys()].sort((a, b) => a - b)) {
      const [first, second] = this.#slots.get(slot)!;
      if (first === undefined || second === undefined) continue;
      const row = first.row.map((entry, j) => (entry - second.row[j]!) / Math.SQRT2);
      if (row.every((entry) => Number.isFinite(entry))) yield { tag: first.tag, row };
    }
  }

  encode(): Uint8Array {
    const writer = new StateWriter().integer(this.#slots.size);
    for (const [slot, members] of [...this.#slots].sort(([a], [b]) => a - b)) {
      writer.integer(slot).integer(members.length);
      for (const { tag, row } of members) writer.words(BigUint64Array.of(tag)).doubles(row);
    }
    return writer.finish();
  }

  static decode(bytes: Uint8Array, dimension: number): PairSlots {
    const reader = new StateReader(bytes);
    const slots = new PairSlots();
    const size = reader.integer();
    for (let i = 0; i < size; i++) {
      const slot = reader.integer();
      const members = reader.integer();
      for (let m = 0; m < members; m++) {
        const tag = reader.words(1)[0]!;
        slots.add(slot, tag, reader.doubles(dimension));
      }
    }
    reader.end();
    return slots;
  }
}

function byTagThenValue(left: Member, right: Member): number {
  if (left.tag !== right.tag) return left.tag < right.tag ? -1 : 1;
  const differs = left.row.findIndex((entry, j) => entry !== right.row[j]!);
  return differs < 0 ? 0 : left.row[differs]! - right.row[differs]!;
}
