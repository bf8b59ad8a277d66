// @module-tag long
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { decodeReleaseBody, encodeBatchBody, encodeCells } from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { seededNoise } from '../../src/random/insecure.js';
import { Bench, batchOf, define, everyMs } from '../support/hub-bench.js';

const types: readonly ColumnType[] = [
  { type: 'integer' }, { type: 'boolean' }, { type: 'category', of: ['a', 'b'], other: true },
];
const study = {
  version: 2 as const, columns: ['stops', 'late', 'region'], types,
  contribution: { reduce: 'one' as const, rowsMax: 8 }, privacy: { epsilon: 4, delta: 1e-6 },
};
const histogram = {
  ...study, study: 'regions', estimator: 'histogram',
  parameters: { column: 2, edges: [1, 2], top: 10 },
};

/** Contributor i sends one row, as cells. */
function typedBatch(studyId: string, i: number) {
  const values = Float64Array.of(i, i % 2, i % 4 === 0 ? 2 : i % 2);
  const facts = { sequence: 1n, epoch: 1n, last: true, rows: 1, columns: 3 };
  const body = encodeBatchBody({
    ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
    cells: encodeCells(values, types, 'float64'),
  });
  return { ...batchOf(studyId, i, 1n), ...facts, body, values };
}

describe('epochs of a study with typed columns', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it('count names, also after a restart that reads the journal again', async () => {
    const start = () => bench.start([define(histogram)], {
      runner: new InlineEpochRunner({ noise: () => seededNoise('typed') }),
    });
    let hub = await start();
    const { studyId } = hub.studies()[0]!;
    const sent = await Promise.all(
      Array.from({ length: 400 }, (_, i) => hub.submit(typedBatch(studyId, i))),
    );
    expect(sent.every(({ verdict }) => verdict === 'accepted')).toBe(true);
    await hub.close();
    hub = await start();
    await bench.clock.advance(everyMs);
    await hub.settled();
    const { outcome } = decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers[0]!;
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    [100, 200, 100].forEach((truth, i) =>
      expect(Math.abs(outcome.estimate[i]! - truth)).toBeLessThan(15));
    await hub.close();
  });
});
