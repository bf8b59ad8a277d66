import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { describe, expect, it } from 'vitest';
import { toBigint } from '../../src/wire/fields.js';
import { Reader, Writer, type Long } from '../../src/wire/protobuf.js';

/** A method of both readers, with a result that can be compared. */
type Read = (reader: Reader | protobuf.Reader) => unknown;

const big = (value: unknown): bigint => toBigint(value as number | Long);
const reads: Readonly<Record<string, Read>> = {
  uint32: (reader) => reader.uint32(),
  int32: (reader) => reader.int32(),
  uint64: (reader) => big(reader.uint64()),
  bool: (reader) => reader.bool(),
  tag: (reader) => reader.tag(),
  size: (reader) => reader.size(),
  double: (reader) => reader.double(),
  bytes: (reader) => [...reader.bytes()],
  string: (reader) => reader.stringVerify(),
  uint32s: (reader) => reader.uint32s([]),
  uint64s: (reader) => (reader.uint64s([]) as unknown[]).map(big),
  doubles: (reader) => reader.doubles([]),
};

/** What a reader makes of the bytes; `refused` for any error. */
function read(reader: Reader | protobuf.Reader, of: Read): unknown {
  try {
    return [of(reader), reader.pos];
  } catch {
    return 'refused';
  }
}

const small = fc.constantFrom(0, 1, 2, 7, 8, 15, 16, 127, 128, 129, 255);
const someBytes = fc.oneof(
  fc.uint8Array({ maxLength: 24 }),
  fc.array(small, { maxLength: 24 }).map((each) => Uint8Array.from(each)),
  // A length that fits, and bytes beside it.
  fc.uint8Array({ maxLength: 24 }).map((each) => Uint8Array.of(each.length, ...each, 1, 2)),
);

describe('the primitives of protobuf', () => {
  it.each(Object.entries(reads))('read %s as the library does', (_name, of) => {
    fc.assert(fc.property(someBytes, (bytes) => {
      expect(read(new Reader(bytes), of)).toEqual(read(new protobuf.Reader(bytes), of));
    }), { numRuns: 1_000 });
  });

  const long = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): Long => ({
    low: Number(value & 0xffff_ffffn) | 0, high: Number(value >> 32n) | 0, unsigned: true,
  }));
  const field = fc.oneof(
    fc.nat().map((value) => ['uint32', value] as const),
    fc.integer().map((value) => ['int32', value] as const),
    fc.oneof(long, fc.maxSafeNat()).map((value) => ['uint64', value] as const),
    fc.boolean().map((value) => ['bool', value] as const),
    fc.double().map((value) => ['double', value] as const),
    fc.uint8Array({ maxLength: 300 }).map((value) => ['bytes', value] as const),
    fc.string({ unit: 'grapheme', maxLength: 200 }).map((value) => ['string', value] as const),
    fc.array(fc.nat()).map((value) => ['uint32s', value] as const),
    fc.array(long).map((value) => ['uint64s', value] as const),
    fc.array(fc.double(), { maxLength: 40 }).map((value) => ['doubles', value] as const),
    fc.constant(['fork', undefined] as const),
    fc.constant(['ldelim', undefined] as const),
  );

  it('write as the library does', () => {
    fc.assert(fc.property(fc.array(field, { maxLength: 12 }), (fields) => {
      const [own, library] = [new Writer(), new protobuf.Writer()];
      let open = 0;
      const both = (name: string, value: unknown): void => {
        for (const writer of [own, library]) {
          (writer as unknown as Record<string, (value: unknown) => unknown>)[name]!(value);
        }
      };
      for (const [name, value] of fields) {
        if (name === 'fork') open += 1;
        if (name === 'ldelim' && open-- === 0) break;
        both(name, value);
      }
      for (; open > 0; open--) both('ldelim', undefined);
      expect(own.finish()).toEqual(new Uint8Array(library.finish()));
    }));
  });
});
