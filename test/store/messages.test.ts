import { describe, expect, it } from 'vitest';
import { packList, reusedBytes, unpackList } from '../../server/store/sqlite/messages.js';
import { batch } from '../support/store-fixtures.js';

const bodies = (...sizes: readonly number[]) =>
  sizes.map((size, i) => batch('a', i + 1, 1, { body: new Uint8Array(size).fill(i + 1) }));

describe('lists of batches between threads', () => {
  it('come back as they were, whatever the memory held before', () => {
    const list = bodies(3, 0, 70_000);
    const spare = new Uint8Array(200_000).fill(0xee);
    const packed = packList(list, spare.buffer);
    expect(packed.bytes).toBe(spare.buffer);
    expect(unpackList(packed)).toEqual(list);
    expect(unpackList(packList(list))).toEqual(list);
  });

  it('use other memory when the spare is too small', () => {
    const list = bodies(70_000);
    const packed = packList(list, new ArrayBuffer(70_000));
    expect(packed.bytes.byteLength).toBeGreaterThan(70_000);
    expect(unpackList(packed)).toEqual(list);
  });

  it('leave bodies in shared memory where they are', () => {
    const memories = [new SharedArrayBuffer(4_096), new SharedArrayBuffer(4_096)];
    const shared = (memory: SharedArrayBuffer, start: number) =>
      new Uint8Array(memory, start, 1_000).fill(start % 251);
    const list = [shared(memories[0]!, 8), shared(memories[1]!, 16), shared(memories[0]!, 2_000)]
      .map((body, i) => batch('a', i + 1, 1, { body }));
    const mixed = [list[0]!, ...bodies(500), list[1]!, list[2]!];
    const packed = packList(mixed);
    expect(packed.bytes.byteLength).toBe(65_536);
    const unpacked = unpackList(packed);
    expect(unpacked).toEqual(mixed);
    expect([0, 2, 3].map((i) => unpacked[i]!.body.buffer))
      .toEqual([memories[0], memories[1], memories[0]]);
    // No byte of a shared body is in the list.
    list[0]!.body.fill(77);
    expect(unpacked[0]!.body[0]).toBe(77);
  });

  it('leave room for the next list, but not past what is kept', () => {
    expect(packList(bodies(70_000)).bytes.byteLength).toBe(131_072);
    const large = packList(bodies(reusedBytes));
    expect(large.bytes.byteLength).toBe(reusedBytes + 128);
  });
});
