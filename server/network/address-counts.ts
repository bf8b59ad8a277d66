/**
 * Counts how many of something each address holds now. An address that holds none uses no memory.
 */
export class AddressCounts {
  readonly #counts = new Map<string, number>();

  /** @param address as `addressKey` writes it. */
  of(address: string): number {
    return this.#counts.get(address) ?? 0;
  }

  /** @param amount may be negative, to remove some. */
  add(address: string, amount: number): void {
    const count = this.of(address) + amount;
    if (count > 0) this.#counts.set(address, count);
    else this.#counts.delete(address);
  }

  /** The address that holds the most, and how many; none: an empty one with 0. Cost: linear. */
  largest(): readonly [address: string, count: number] {
    let found: readonly [string, number] = ['', 0];
    for (const entry of this.#counts) if (entry[1] > found[1]) found = entry;
    return found;
  }
}
