// @module-tag long
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { keyMemory, keyRoomBytes } from '../../src/questions/key-table.js';
import { batchCells, decodeBatchBody, encodeBatchBody, encodeCells } from '../../src/wire/index.js';
import { defineStudy } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub.js';
import { Bench, batchOf, everyMs, questionsDocument } from '../support/hub-bench.js';

/** As many long keys as a contributor may have, so that a few contributors take all room. */
const rows = 4_096;
const columns = ['a', 'b', 'c'];
const types: readonly ColumnType[] = columns.map(() =>
  ({ type: 'text', bytes: 255, optional: true }));
const fitting = Math.floor(keyRoomBytes / (rows * keyMemory(3 * 256)));
const study = defineStudy(questionsDocument([{
  name: 'found', estimator: 'count', columns: [], where: [], reduce: 'mean', share: 100,
  parameters: parseParameters(findEstimator('count').parameters, { of: 'keys' }, { dimension: 1 }),
  by: { columns, keysMax: rows, discover: { top: 1, prefilter: 1 } },
}], { columns, types, cohort: 100, contribution: { rowsMax: rows } }));

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

/** One batch of each of these contributors, whose rows have no texts. It reserves the same. */
async function verdicts(
  hub: RunningHub, from: number, until: number, epoch: bigint, rejected = false,
): Promise<readonly string[]> {
  const { studyId } = hub.studies()[0]!;
  const facts = { sequence: epoch, epoch, last: true, rows, columns: columns.length };
  const body = encodeBatchBody({
    ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
    cells: encodeCells(new Float64Array(rows * columns.length).fill(NaN), types, 'float64'),
  });
  const cells = batchCells(decodeBatchBody(body), types);
  const results = await Promise.all(Array.from({ length: until - from }, (_, i) => hub.submit({
    ...batchOf(studyId, from + i, epoch), ...facts, ...cells, body,
    ...(rejected && { rejectAs: 'not-finite' as const }),
  })));
  for (const { code, lacksKeyRoom } of results) {
    expect(lacksKeyRoom).toBe(code === 'overloaded' ? true : undefined);
  }
  return results.map(({ verdict, code }) => code ?? verdict);
}

it('puts off batches whose keys may find no room, before a table is full', async () => {
  let hub = await bench.start([study]);
  const numberOf = (all: readonly string[], which: string): number =>
    all.filter((each) => each === which).length;
  // Batches that do not count take no room.
  const refused = await verdicts(hub, 1_000, 1_000 + fitting + 3, 1n, true);
  expect(numberOf(refused, 'not-finite')).toBe(fitting + 3);
  const first = await verdicts(hub, 0, fitting + 5, 1n);
  expect([numberOf(first, 'accepted'), numberOf(first, 'overloaded')]).toEqual([fitting, 5]);
  // The operator sees how full it is.
  const { studyId } = hub.studies()[0]!;
  const reserved = fitting * rows * keyMemory(3 * 256);
  expect((await hub.progress(studyId))?.keyRoom).toEqual({ reserved, most: keyRoomBytes });
  // Batches that count keep their room. A repeated one is told that it counts.
  expect(await verdicts(hub, fitting - 1, fitting + 1, 1n)).toEqual(['duplicate', 'overloaded']);
  // A restart finds it in the store. The next epoch has room of its own.
  await hub.close();
  hub = await bench.start([study]);
  expect(await verdicts(hub, fitting, fitting + 1, 1n)).toEqual(['overloaded']);
  await bench.clock.advance(everyMs);
  expect(await verdicts(hub, fitting, fitting + 1, 2n)).toEqual(['accepted']);
  await hub.close();
  expect(bench.failures).toEqual([]);
});

it('reserves for many small batches what a large one needs, also after a restart', async () => {
  const few = defineStudy(questionsDocument([{
    ...study.document.questions![0]!,
    by: { columns, keysMax: 3, discover: { top: 1, prefilter: 1 } },
  }], { columns, types, cohort: 100, contribution: { rowsMax: rows } }));
  let hub = await bench.start([few]);
  const { studyId } = hub.studies()[0]!;
  const send = async (contributor: number, sequence: bigint, count: number, last: boolean) => {
    const facts = { sequence, epoch: 1n, last, rows: count, columns: columns.length };
    const body = encodeBatchBody({
      ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(new Float64Array(count * columns.length).fill(NaN), types, 'float64'),
    });
    const cells = batchCells(decodeBatchBody(body), types);
    return hub.submit({ ...batchOf(studyId, contributor, sequence), ...facts, ...cells, body });
  };
  const reserved = async () =>
    ((await hub.progress(studyId))?.keyRoom?.reserved ?? NaN) / keyMemory(3 * 256);
  for (let i = 1n; i <= 8n; i++) await send(1, i, 1, i === 8n);
  expect(await reserved()).toBe(3);
  await send(2, 1n, 2, false);
  expect(await reserved()).toBe(5);
  await send(3, 1n, 50, true);
  expect(await reserved()).toBe(8);
  // The store has what each contributor reserved, also of one who is not done.
  await hub.close();
  hub = await bench.start([few]);
  expect(await reserved()).toBe(8);
  await send(2, 2n, 10, false);
  expect(await reserved()).toBe(9);
  await hub.close();
  expect(bench.failures).toEqual([]);
});
