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

  it('leave room for the next list, but not past what is kept', () => {
    expect(packList(bodies(70_000)).bytes.byteLength).toBe(131_072);
    const large = packList(bodies(reusedBytes));
    expect(large.bytes.byteLength).toBe(reusedBytes + 128);
  });
});
