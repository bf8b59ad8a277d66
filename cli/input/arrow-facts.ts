import { InvalidInputError } from '../../src/base/errors.js';
import { damaged } from './damage.js';

/** The facts in the header of an Arrow message. */
export interface MessageFacts {
  readonly kind: 'schema' | 'dictionary' | 'rows';
  /** Bytes of values that follow. */
  readonly bodyBytes: number;
  /** The dictionary that receives the values, and whether they are appended to its present ones. */
  readonly dictionary?: { readonly id: bigint; readonly isDelta: boolean };
}

const kinds: Readonly<Record<number, MessageFacts['kind']>> = {
  1: 'schema', 2: 'dictionary', 3: 'rows',
};

const fieldsMax = 65_536;
const depthMax = 64;
const rowsMax = 2 ** 31;
/** The library makes a list of all values of a dictionary, whatever bytes there are. */
const dictionaryMax = 1 << 24;

/**
 * Reads the facts of a message. It follows every list in them, because the library trusts the
 * lengths of lists. Numbers of slots are those of Message.fbs and Schema.fbs of the format.
 * @throws InvalidInputError if they are not valid.
 */
export function factsOf(metadata: Uint8Array, at: number, source: string): MessageFacts {
  try {
    const message = FlatTable.root(metadata);
    const kind = kinds[message.uint8(1)];
    const bodyBytes = Number(message.int64(3));
    const header = message.table(2);
    if (kind === undefined) {
      throw new InvalidInputError(`${source}, byte ${at}: a message holds something else than a `
        + 'table: save the rows as a table', { source, byte: at });
    }
    if (!(bodyBytes >= 0) || header === null) throw new RangeError('no body or no header');
    if (kind === 'schema') {
      checkSchema(header);
      return { kind, bodyBytes };
    }
    if (kind === 'rows') {
      checkRows(header, rowsMax);
      return { kind, bodyBytes };
    }
    checkRows(header.table(1), dictionaryMax);
    return {
      kind, bodyBytes, dictionary: { id: header.int64(0), isDelta: header.uint8(2) !== 0 },
    };
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw damaged(source, `byte ${at}`, 'a message is not valid', { byte: at });
  }
}

/**
 * The starts of the messages of rows, from the footer of a file.
 * @throws RangeError if the footer is not valid.
 */
export function blocksOf(footer: Uint8Array): readonly number[] {
  const view = viewOf(footer);
  return FlatTable.root(footer).list(3, 24).map((at) => Number(view.getBigInt64(at, true)));
}

/**
 * The schema that a footer holds, as a message. Arrow's library for JavaScript writes files whose
 * only schema is there.
 * @throws RangeError if the footer is not valid; InvalidInputError for too many columns.
 */
export function schemaOfFooter(footer: Uint8Array): Uint8Array {
  const schema = FlatTable.root(footer).table(1);
  if (schema === null) throw new RangeError('no schema');
  checkSchema(schema);
  // Mark and length, then a table with the slots version, kind and header, which is in the footer.
  const front = 40;
  const bytes = new Uint8Array(Math.ceil((front + footer.length) / 8) * 8);
  const view = viewOf(bytes);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, bytes.length - 8, true);
  const [slots, table] = [12, 24];
  view.setUint32(8, table - 8, true);
  [10, 12, 8, 10, 4].forEach((entry, i) => view.setUint16(slots + 2 * i, entry, true));
  view.setInt32(table, table - slots, true);
  view.setUint32(table + 4, front + schema.start - (table + 4), true);
  // Version 5 of the format is 4 here. Kind 1 is a schema.
  view.setUint16(table + 8, 4, true);
  view.setUint8(table + 10, 1);
  bytes.set(footer, front);
  return bytes;
}

/** @param most - rows of a column. */
function checkRows(batch: FlatTable | null, most: number): void {
  if (batch === null) throw new RangeError('no rows');
  // Lengths of columns, places of buffers, and numbers of buffers of columns of views.
  for (const at of batch.list(1, 16)) {
    const length = batch.int64At(at);
    if (length < 0n || length > BigInt(most)) throw new RangeError('a column too long');
  }
  batch.list(2, 16);
  batch.list(4, 8);
}

function checkSchema(schema: FlatTable): void {
  let fields = 0;
  const checkField = (field: FlatTable, depth: number): void => {
    fields += 1;
    if (fields > fieldsMax || depth > depthMax) throw new RangeError('too many columns');
    checkNotes(field, 6);
    // The ids of a union. In tables of other types this slot is no list, or absent.
    if (field.uint8(2) === unionType) field.table(3)?.list(1, 4);
    for (const child of field.tables(5)) checkField(child, depth + 1);
  };
  checkNotes(schema, 2);
  schema.list(3, 8);
  for (const field of schema.tables(1)) checkField(field, 0);
}

/** The number of a union among types. */
const unionType = 14;

function checkNotes(table: FlatTable, slot: number): void {
  if (table.tables(slot).length > fieldsMax) throw new RangeError('too many notes');
}

/** A table of FlatBuffers: Arrow writes facts so. Reading beyond the bytes is a RangeError. */
class FlatTable {
  private constructor(private readonly view: DataView, readonly start: number) {}

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

  int64At(at: number): bigint {
    return this.view.getBigInt64(at, true);
  }

  table(slot: number): FlatTable | null {
    const at = this.place(slot);
    return at === null ? null : this.tableAt(at);
  }

  tables(slot: number): readonly FlatTable[] {
    return this.list(slot, 4).map((at) => this.tableAt(at));
  }

  /** The starts of the members of a list, each of `size` bytes. */
  list(slot: number, size: number): readonly number[] {
    const at = this.place(slot);
    if (at === null) return [];
    const start = at + this.view.getUint32(at, true);
    const count = this.view.getUint32(start, true);
    if (start + 4 + size * count > this.view.byteLength) throw new RangeError('a list too long');
    return Array.from({ length: count }, (_, i) => start + 4 + size * i);
  }

  private tableAt(at: number): FlatTable {
    const table = new FlatTable(this.view, at + this.view.getUint32(at, true));
    table.view.getInt32(table.start, true);
    return table;
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

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
