import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { defineStudy } from '../../server/studies/definition.js';
import { Bench, batchOf, everyMs, questionsDocument } from '../support/hub-bench.js';

const types: readonly ColumnType[] = [{ type: 'text', bytes: 16 }];
const texts = ['chess', 'letters', 'maps'];
const count = { estimator: 'count', columns: [], where: [], reduce: 'one', part: 50 } as const;
const parameters = parseParameters(findEstimator('count').parameters, {}, { dimension: 1 });
const columns = ['app'];
const study = defineStudy(questionsDocument([
  {
    ...count, parameters, name: 'found',
    by: { columns, groupsMax: 2, discover: { top: 4, prefilter: 2 } },
  },
  {
    ...count, parameters, name: 'listed',
    by: { columns, groupsMax: 1, groups: [['chess'], ['maps']] },
  },
], {
  columns: ['app'], types, privacy: { epsilon: 8, delta: 1e-6 },
  budget: { epsilon: 64, delta: 1e-5, rule: 'zcdp', scope: 'study' },
}));

describe('a study that counts the people who lose keys', { tags: ['long'] }, () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it('publishes the number of those with more keys than count, for each question', async () => {
    const hub = await bench.start([study], { runner: new InlineEpochRunner() });
    const { studyId } = hub.studies()[0]!;
    // 200 people have all three apps, 150 have two of them.
    const people = [...new Array<number[]>(200).fill([0, 1, 2]),
      ...new Array<number[]>(150).fill([0, 1])];
    const results = await Promise.all(people.map((apps, i) => {
      const facts = { sequence: 1n, epoch: 1n, last: true, rows: apps.length, columns: 1 };
      const body = encodeBatchBody({
        ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
        cells: encodeCells(Float64Array.from(apps), types, 'float64',
          texts.slice(0, apps.length)),
      });
      return hub.submit({
        ...batchOf(studyId, i, 1n), ...facts, body,
        ...batchCells(decodeBatchBody(body), types),
      });
    }));
    expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    const answers = decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers;
    const amounts = answers.map(({ outcome }) => {
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      return outcome.findings!.find(({ reason }) => reason === 'groups-cut')!.amounts;
    });
    // A key that is not listed is none.
    [2, 1].forEach((most, i) => {
      const [noisy, half, groupsMax] = amounts[i]!;
      expect(groupsMax).toBe(most);
      expect(half).toBeLessThan(40);
      // Six deviations.
      expect(Math.abs(noisy! - 200)).toBeLessThan(3.1 * half!);
    });
  });
});
