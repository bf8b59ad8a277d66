/** Items that an iterator keeps for a reader that does not read. Older items are dropped. */
const keptMax = 256;

interface Reader<T> {
  readonly items: T[];
  wake: (() => void) | null;
}

/** One source of events for any number of readers. Each reader has its own bounded queue. */
export class Broadcast<T> {
  private readonly readers = new Set<Reader<T>>();
  private closed = false;

  publish(item: T): void {
    if (this.closed) return;
    for (const reader of this.readers) {
      reader.items.push(item);
      if (reader.items.length > keptMax) reader.items.shift();
      reader.wake?.();
    }
  }

  /** Iterators end after the items that they still hold. */
  close(): void {
    this.closed = true;
    for (const reader of this.readers) reader.wake?.();
  }

  /** Streams the events from this call on, after the items of `first`. */
  stream(first: readonly T[] = []): AsyncGenerator<T, void, undefined> {
    const reader: Reader<T> = { items: [...first], wake: null };
    this.readers.add(reader);
    return this.read(reader);
  }

  private async *read(reader: Reader<T>): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const item = reader.items.shift();
        if (item !== undefined) yield item;
        else if (this.closed) return;
        else await new Promise<void>((resolve) => { reader.wake = resolve; });
        reader.wake = null;
      }
    } finally {
      this.readers.delete(reader);
    }
  }
}
