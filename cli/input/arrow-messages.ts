import { InvalidInputError } from '../../src/base/errors.js';
import { damaged } from './damage.js';

/** The message of a schema, of values of a dictionary, or of rows. */
export interface ArrowMessage {
  readonly kind: 'schema' | 'dictionary' | 'rows';
  /** The whole message, in memory of its own that begins at a multiple of 8 bytes. */
  readonly bytes: Uint8Array;
  /** Where it begins, in bytes from the start of the file. */
  readonly at: number;
  /** The dictionary that it gives values to, and whether they come after those it has. */
  readonly dictionary?: { readonly id: bigint; readonly isDelta: boolean };
}

const metadataBytesMax = 16 * 1024 * 1024;
/** Rows of one message are in memory together. */
const bodyBytesMax = 1 << 30;
const continuation = 0xffffffff;
const fileMagic = 'ARROW1';
/** A file begins with its magic, filled up to 8 bytes. */
const fileStart = 8;

const kinds: Readonly<Record<number, ArrowMessage['kind']>> = {
  1: 'schema', 2: 'dictionary', 3: 'rows',
};

/**
 * The messages of Arrow's stream or file format, one at a time. A file is a stream between its
 * magic and its footer; the footer must list the same messages of rows.
 * @throws InvalidInputError with the byte at which the input is cut short or damaged.
 */
export async function* arrowMessages(
  chunks: AsyncIterable<Uint8Array>, source: string,
): AsyncGenerator<ArrowMessage> {
  const bytes = new ByteQueue(chunks);
  const isFile = await bytes.startsWith(fileMagic);
  if (await bytes.startsWith('FEA1')) {
    throw new InvalidInputError(
      `${source}: Feather version 1 is not read: save the file with version 2, which is Arrow`,
    );
  }
  if (isFile) await bytes.take(fileStart);
  const rowsAt: number[] = [];
  for (;;) {
    const at = bytes.taken;
    const message = await nextMessage(bytes, at, source);
    if (message === null) break;
    if (message.kind === 'rows') rowsAt.push(at);
    yield message;
  }
  if (isFile) await checkFooter(bytes, rowsAt, source);
}

/** Null at the mark that ends a stream. */
async function nextMessage(
  bytes: ByteQueue, at: number, source: string,
): Promise<ArrowMessage | null> {
  const head = await whole(bytes, 4, at, source);
  // Streams of versions before 0.15 have no continuation mark.
  const isMarked = viewOf(head).getUint32(0, true) === continuation;
  const prefix = isMarked ? join(head, await whole(bytes, 4, at, source)) : head;
  const size = viewOf(prefix).getInt32(prefix.length - 4, true);
  if (size === 0) return null;
  if (size < 0 || size > metadataBytesMax) {
    throw damaged(source, `byte ${at}`, `a message would have ${size} bytes of facts`, { byte: at });
  }
  const metadata = await whole(bytes, size, at, source);
  const { kind, bodyBytes, dictionary } = factsOf(metadata, at, source);
  if (bodyBytes > bodyBytesMax) {
    throw new InvalidInputError(`${source}, byte ${at}: a message has ${bodyBytes} bytes, at most `
      + `${bodyBytesMax} are read: save the rows in smaller record batches`,
    { source, limit: bodyBytesMax });
  }
  const body = await whole(bytes, bodyBytes, at, source);
  return {
    kind, at, bytes: join(prefix, metadata, body), ...(dictionary !== undefined && { dictionary }),
  };
}

async function whole(
  bytes: ByteQueue, count: number, at: number, source: string,
): Promise<Uint8Array> {
  const found = await bytes.take(count);
  if (found.length === count) return found;
  const end = bytes.taken;
  throw damaged(
    source, `byte ${end}`,
    `it is cut short inside what begins at byte ${at}`, { byte: end },
  );
}

interface Facts extends Pick<ArrowMessage, 'kind' | 'dictionary'> {
  readonly bodyBytes: number;
}

/** What a message says about itself. Slots are those of Message.fbs of the format. */
function factsOf(metadata: Uint8Array, at: number, source: string): Facts {
  try {
    const message = FlatTable.root(metadata);
    const kind = kinds[message.uint8(1)];
    const bodyBytes = Number(message.int64(3));
    if (kind === undefined) {
      throw new InvalidInputError(`${source}, byte ${at}: a message holds something else than a `
        + 'table: save the rows as a table', { source, byte: at });
    }
    if (!(bodyBytes >= 0)) throw new RangeError('a negative length');
    if (kind !== 'dictionary') return { kind, bodyBytes };
    const header = message.table(2);
    if (header === null) throw new RangeError('no header');
    return {
      kind, bodyBytes, dictionary: { id: header.int64(0), isDelta: header.uint8(2) !== 0 },
    };
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw damaged(source, `byte ${at}`, 'a message is not valid', { byte: at });
  }
}

/** The footer lists where each message of rows begins: the same ones, in the same order. */
async function checkFooter(
  bytes: ByteQueue, rowsAt: readonly number[], source: string,
): Promise<void> {
  const start = bytes.taken;
  const rest = await bytes.take(metadataBytesMax);
  const at = rest.length - fileMagic.length;
  const isWhole = at >= 4 && Buffer.from(rest.subarray(at)).toString('latin1') === fileMagic
    && viewOf(rest).getInt32(at - 4, true) === at - 4;
  if (!isWhole) {
    throw damaged(source, `byte ${bytes.taken}`, `it does not end with a footer and ${fileMagic}`);
  }
  try {
    const listed = FlatTable.root(rest.subarray(0, at - 4)).blocks(3);
    if (listed.length === rowsAt.length && listed.every((each, i) => each === rowsAt[i])) return;
  } catch {
    // Below.
  }
  throw damaged(source, `byte ${start}`, 'its footer lists other rows than it has');
}

/** A table of FlatBuffers, in which Arrow writes facts. Reading beyond the bytes is a RangeError. */
class FlatTable {
  private constructor(private readonly view: DataView, private readonly start: number) {}

  static root(bytes: Uint8Array): FlatTable {
    const view = viewOf(bytes);
    return new FlatTable(view, view.getUint32(0, true));
  }

  /** 0 where the table lacks the slot. */
  uint8(slot: number): number {
    const at = this.place(slot);
    return at === null ? 0 : this.view.getUint8(at);
  }

  int64(slot: number): bigint {
    const at = this.place(slot);
    return at === null ? 0n : this.view.getBigInt64(at, true);
  }

  table(slot: number): FlatTable | null {
    const at = this.place(slot);
    return at === null ? null : new FlatTable(this.view, at + this.view.getUint32(at, true));
  }

  /** The offsets of a list of blocks: each has an offset, a length of facts and one of its body. */
  blocks(slot: number): number[] {
    const at = this.place(slot);
    if (at === null) return [];
    const list = at + this.view.getUint32(at, true);
    const count = this.view.getUint32(list, true);
    const offsets: number[] = [];
    for (let i = 0; i < count; i++) {
      offsets.push(Number(this.view.getBigInt64(list + 4 + 24 * i, true)));
    }
    return offsets;
  }

  private place(slot: number): number | null {
    const { view, start } = this;
    const slots = start - view.getInt32(start, true);
    const entry = 4 + 2 * slot;
    if (entry >= view.getUint16(slots, true)) return null;
    const offset = view.getUint16(slots + entry, true);
    return offset === 0 ? null : start + offset;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Copies into new memory: a Buffer may begin anywhere in memory that it shares. */
function join(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Takes pieces of a stream. Memory grows with the bytes that are there, not with those asked for. */
class ByteQueue {
  /** Bytes taken so far. */
  taken = 0;
  private readonly chunks: AsyncIterator<Uint8Array>;
  private held: Uint8Array[] = [];
  private count = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  async startsWith(text: string): Promise<boolean> {
    await this.fill(text.length);
    const start = Buffer.concat(this.held).subarray(0, text.length);
    return start.toString('latin1') === text;
  }

  /** So many bytes, or fewer at the end of the stream. */
  async take(count: number): Promise<Uint8Array> {
    await this.fill(count);
    const parts: Uint8Array[] = [];
    let left = Math.min(count, this.count);
    this.taken += left;
    this.count -= left;
    while (left > 0) {
      const first = this.held[0]!;
      const part = first.subarray(0, left);
      parts.push(part);
      left -= part.length;
      if (part.length === first.length) this.held.shift();
      else this.held[0] = first.subarray(part.length);
    }
    return join(...parts);
  }

  private async fill(count: number): Promise<void> {
    while (this.count < count) {
      const next = await this.chunks.next();
      if (next.done === true) return;
      this.held.push(next.value);
      this.count += next.value.length;
    }
  }
}
