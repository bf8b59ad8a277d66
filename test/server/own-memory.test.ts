import { expect, it } from 'vitest';
import { ownRows } from '../../server/epochs/packing.js';
import type { AcceptedBatch } from '../../server/epochs/contract.js';

it('what an epoch gets of a batch has no memory of the listener, which is used again', () => {
  const values = new Float64Array(new SharedArrayBuffer(32)).fill(5);
  const bytes = new Uint8Array(new SharedArrayBuffer(4)).fill(97);
  const batch: AcceptedBatch = {
    contributor: new Uint8Array(32), sequence: 1n, rows: 2, complete: true, values,
    texts: [{ count: 1, bytes, starts: Uint32Array.of(0) }, null],
  };
  const part = ownRows(batch);
  values.fill(0);
  bytes.fill(0);
  expect(part).toMatchObject({
    values: Float64Array.of(5, 5, 5, 5),
    texts: [{ bytes: Uint8Array.of(97, 97, 97, 97) }, null],
  });
});
