// @module-tag long
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { keyMemory, keyRoomBytes } from '../../src/questions/key-table.js';
import { batchCells, decodeBatchBody, encodeBatchBody, encodeCells } from '../../src/wire/index.js';
import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { reservedFor } from '../../server/studies/live/key-memory.js';
import { Bench, batchOf, questionsDocument } from '../support/hub-bench.js';

/** The release of so many keys takes more than half of a shorter epoch. */
const everyMs = 86_400_000;
/** As many long keys as a contributor may have, so that few people need all room of an epoch. */
const rowsMax = 4_096;
const columns = ['a', 'b', 'c'];
const types: readonly ColumnType[] = columns.map(() =>
  ({ type: 'text', bytes: 255, optional: true }));
const fitting = Math.floor(keyRoomBytes / (rowsMax * keyMemory(3 * 256)));

function studyOf(study: string, peopleMax: number): StudyDefinition {
  return defineStudy(questionsDocument([{
    name: 'found', estimator: 'count', columns: [], where: [], reduce: 'mean', part: 100,
    parameters: parseParameters(
      findEstimator('count').parameters, { of: 'groups' }, { dimension: 1 }),
    by: { columns, groupsMax: rowsMax, discover: { top: 1, prefilter: 1 } },
  }], {
    study, columns, types, cohort: 100, peopleMax, contribution: { rowsMax }, epoch: { everyMs },
  }));
}

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

interface Sent {
  readonly study?: number;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly epoch?: bigint;
  readonly rejected?: true;
}

/** One batch of each of these people, whose rows have no texts. */
async function verdicts(
  hub: RunningHub, { study = 0, from, to, rows, epoch = 1n, rejected }: Sent,
): Promise<readonly string[]> {
  const { studyId } = hub.studies()[study]!;
  const facts = { sequence: epoch, epoch, last: true, rows, columns: columns.length };
  const body = encodeBatchBody({
    ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
    cells: encodeCells(new Float64Array(rows * columns.length).fill(NaN), types, 'float64'),
  });
  const cells = batchCells(decodeBatchBody(body), types);
  const results = await Promise.all(Array.from({ length: to - from }, (_, i) => hub.submit({
    ...batchOf(studyId, from + i, epoch), ...facts, ...cells, body,
    ...(rejected === true && { rejectAs: 'not-finite' as const }),
  })));
  for (const { code, isFull } of results) {
    expect(isFull).toBe(code === 'overloaded' ? true : undefined);
  }
  return results.map(({ verdict, code }) => code ?? verdict);
}

const numberOf = (all: readonly string[], which: string): number =>
  all.filter((each) => each === which).length;

it('puts off people beyond the public number, and nobody before, whatever was sent', async () => {
  const study = studyOf('full', 200);
  const answers: string[][] = [];
  for (const rows of [1, rowsMax]) {
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    // Batches that do not count take no place.
    const refused = await verdicts(hub, { from: 1_000, to: 1_030, rows, rejected: true });
    expect(numberOf(refused, 'not-finite')).toBe(30);
    const first = await verdicts(hub, { from: 0, to: 205, rows });
    expect((await hub.progress(studyId))?.people).toEqual({ came: 200, most: 200 });
    // Batches that count keep their place. A repeated one is told that it counts.
    const again = await verdicts(hub, { from: 199, to: 201, rows });
    expect(again).toEqual(['duplicate', 'overloaded']);
    // A restart finds how many there are in the store.
    await hub.close();
    hub = await bench.start([study]);
    expect(await verdicts(hub, { from: 200, to: 201, rows })).toEqual(['overloaded']);
    await bench.clock.advance(everyMs);
    expect(await verdicts(hub, { from: 200, to: 201, rows, epoch: 2n })).toEqual(['accepted']);
    answers.push([...first]);
    await hub.close();
    await bench.close();
    bench = new Bench();
  }
  expect([numberOf(answers[0]!, 'accepted'), numberOf(answers[0]!, 'overloaded')])
    .toEqual([200, 5]);
  expect(answers[1]).toEqual(answers[0]);
  expect(bench.failures).toEqual([]);
});

it('lets no study take the memory of another', async () => {
  const studies = ['one', 'two', 'three'].map((name) => studyOf(name, fitting));
  const memoryBytes = 2 * studies.reduce((sum, study) => sum + reservedFor(study), 0);
  const hub = await bench.start(studies, { memoryBytes });
  const sent = { from: 0, to: fitting, rows: rowsMax };
  expect(numberOf(await verdicts(hub, sent), 'accepted')).toBe(fitting);
  expect(numberOf(await verdicts(hub, { ...sent, study: 1 }), 'accepted')).toBe(fitting);
  expect(await verdicts(hub, { study: 2, from: 0, to: 3, rows: rowsMax }))
    .toEqual(['accepted', 'accepted', 'accepted']);
  await hub.close();
  expect(bench.failures).toEqual([]);
});

it('refuses a study for whose people there is no memory, and runs the others', async () => {
  const studies = ['one', 'two'].map((name) => studyOf(name, 110));
  const [one, two] = studies as [StudyDefinition, StudyDefinition];
  const enough = 2 * (reservedFor(one) + reservedFor(two));
  let hub = await bench.start(studies, { memoryBytes: enough });
  expect(hub.refused()).toEqual([]);
  await hub.close();
  hub = await bench.start(studies, { memoryBytes: enough - 2 });
  expect(hub.studies().map(({ name }) => name)).toEqual(['one']);
  expect(hub.refused()).toMatchObject([{ study: 'two', error: {
    code: 'invalid-study', details: { asked: reservedFor(two), left: reservedFor(two) - 1 },
  } }]);
  expect(hub.refused()[0]!.error.message).toMatch(
    /^the study two needs 52\d\d MiB .* up to 110 people in each of 3 epochs, .*smaller peopleMax/);
  await hub.close();
});
