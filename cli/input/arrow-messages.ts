import { InvalidInputError } from '../../src/base/errors.js';
import { blocksOf, factsOf, schemaOfFooter, viewOf, type MessageFacts } from './arrow-facts.js';
import { damaged } from './damage.js';

/** The message of a schema, of values of a dictionary, or of rows. */
export interface ArrowMessage extends Pick<MessageFacts, 'kind' | 'dictionary'> {
  /** The whole message, in memory of its own that begins at a multiple of 8 bytes. */
  readonly bytes: Uint8Array;
  /** Its start, in bytes from the start of the file. */
  readonly at: number;
}

const metadataBytesMax = 16 * 1024 * 1024;
/** Rows of one message are in memory together. */
const bodyBytesMax = 1 << 30;
const continuation = 0xffffffff;
const endMark = Buffer.from('ffffffff00000000', 'hex');
const fileMagic = 'ARROW1';
/** A file begins with its magic, filled up to 8 bytes. */
const fileStart = 8;

/**
 * The messages of Arrow's stream or file format, one at a time. A file is a stream between its
 * magic and its footer; the footer must list the same messages of rows. Where the stream of a file
 * begins without a schema, the one in its footer comes first, so all messages wait for it.
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
  const waiting: ArrowMessage[] = [];
  let waitingBytes = 0;
  for (;;) {
    const at = bytes.taken;
    const message = await nextMessage(bytes, at, source);
    if (message === null) break;
    if (message.kind === 'rows') rowsAt.push(at);
    const hasNoSchema = isFile && at === fileStart && message.kind !== 'schema';
    if (!hasNoSchema && waiting.length === 0) {
      yield message;
      continue;
    }
    waiting.push(message);
    waitingBytes += message.bytes.length;
    if (waitingBytes > bodyBytesMax) throw tooLargeToWait(source);
  }
  if (!isFile) return;
  const schema = await checkFooter(bytes, rowsAt, source);
  if (waiting.length > 0) yield { kind: 'schema', at: fileStart, bytes: schema };
  yield* waiting;
}

function tooLargeToWait(source: string): InvalidInputError {
  return new InvalidInputError(`${source}: its columns are described at its end alone, and at most `
    + `${bodyBytesMax} bytes before it are read: save it as an Arrow stream`,
  { source, limit: bodyBytesMax });
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

/**
 * The footer lists where each message of rows begins: the same ones, in the same order.
 * @returns its schema, as a message.
 */
async function checkFooter(
  bytes: ByteQueue, rowsAt: readonly number[], source: string,
): Promise<Uint8Array> {
  const start = bytes.taken;
  const rest = await bytes.take(metadataBytesMax);
  const end = rest.length - fileMagic.length - 4;
  const size = end < 0 ? -1 : viewOf(rest).getInt32(end, true);
  const isWhole = Buffer.from(rest.subarray(end + 4)).toString('latin1') === fileMagic
    // Some writers mark the end of the stream twice.
    && (size === end || (size === end - endMark.length && endMark.equals(rest.subarray(0, 8))));
  if (!isWhole) {
    throw damaged(source, `byte ${bytes.taken}`, `it does not end with a footer and ${fileMagic}`);
  }
  try {
    // A copy, because its data must begin at a multiple of 8 bytes.
    const footer = join(rest.subarray(end - size, end));
    const listed = blocksOf(footer);
    if (listed.length === rowsAt.length && listed.every((each, i) => each === rowsAt[i])) {
      return schemaOfFooter(footer);
    }
  } catch {
    // Below.
  }
  throw damaged(source, `byte ${start}`, 'its footer lists other rows than it has');
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

/**
 * Reads pieces of a stream. Memory grows with the bytes that have arrived, not with the bytes that
 * are requested.
 */
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

  /** This many bytes, or fewer at the end of the stream. */
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
