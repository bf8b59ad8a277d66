import { toHex } from '../../src/base/bytes.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { batchRows, decodeBatchBody, ofShortFacts } from '../../src/wire/index.js';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { systemClock } from '../../server/base/clock.js';
import { createLogger } from '../../server/base/logger.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { defineStudy } from '../../server/studies/definition.js';
import { expect } from './fault.js';
import { shortFacts } from './samples.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

/** An epoch closes when one contribution is complete. The journal keeps the accepted rows. */
export const document = ofShortFacts({
  ...shortFacts, study: 'conformance', cohort: 200, participation: 'public',
  epoch: { contributors: 1 }, estimator: 'mean',
  parameters:
    parseParameters(findEstimator('mean').parameters, { spread: [20, 300] }, { dimension: 2 }),
  privacy: { epsilon: 8, delta: 1e-6 },
  budget: { epsilon: 100, delta: 1e-5, rule: 'zcdp', scope: 'study' },
  retention: { kind: 'duration', keepMs: 86_400_000 },
});

export const start = (directory: string, port: number): Promise<Aggregator> => createAggregator({
  dataDirectory: directory, studies: [defineStudy(document)], strict: true, port, checkThreads: 0,
  logger: createLogger({ level: 'silent', destination: { write: () => undefined } }),
});

/** Rows of a key in the first epoch, as the aggregator stored them. */
export async function stored(directory: string, contributor: string): Promise<string[]> {
  const store = await openInlineSqliteStore({ directory, clock: systemClock });
  try {
    const [study] = await store.studies();
    const entries = await store.journal(study!.studyId, 1n, 0n, 1_000);
    return entries.filter((entry) => entry.contributor === contributor).flatMap(({ body }) => {
      const batch = decodeBatchBody(body);
      const values = batchRows(batch);
      return Array.from({ length: batch.rows }, (_, i) => values.slice(2 * i, 2 * i + 2).join());
    });
  } finally {
    await store.close();
  }
}

async function overRestart(stage: Stage, reads: boolean): Promise<void> {
  const directory = stage.path('data');
  let aggregator = await start(directory, 0);
  stage.atEnd(() => aggregator.close());
  const url = aggregator.address.replace('http', 'ws');
  const serverKey = toHex(aggregator.serverKey);
  const rows = freshRows(5);
  await stage.open({ url, serverKey }, { study: document.study });
  await stage.accepted(await stage.send(rows.slice(0, 3)));
  await aggregator.close();
  const last = await stage.send(rows.slice(3), true);
  aggregator = await start(directory, Number(new URL(url).port));
  await stage.accepted(last);
  await stage.close();
  if (reads) {
    (await stage.program()).say({ do: 'subscribe', url, study: document.study, serverKey });
    const one = await stage.event(({ event }) => event === 'release' || event === 'ended');
    expect(one['index'] === 0 && one['epoch'] === 1, 'the release of epoch 1 was not reported');
    await stage.close();
  }
  await aggregator.close();
  const key = toHex(stage.contributorKey);
  const found = await stored(directory, key);
  expect(found.sort().join(';') === rows.map((row) => row.join()).sort().join(';'),
    'the aggregator does not have each row once');
}

async function takenBack(stage: Stage): Promise<void> {
  const directory = stage.path('data');
  const aggregator = await start(directory, 0);
  stage.atEnd(() => aggregator.close());
  const url = aggregator.address.replace('http', 'ws');
  const serverKey = toHex(aggregator.serverKey);
  await stage.open({ url, serverKey }, { study: document.study });
  await stage.accepted(await stage.send(freshRows(3)));
  await stage.withdraw(1);
  const code = await stage.settled(await stage.send(freshRows(1), true));
  expect(code === 'contribution-full', `rows for a withdrawn epoch were settled as ${code}`);
  await stage.close();
  await aggregator.close();
  const key = toHex(stage.contributorKey);
  expect((await stored(directory, key)).length === 0, 'rows are stored that were taken back');
}

/** The same against the aggregator of this package. */
export const aggregatorCases: readonly ConformanceCase[] = [
  {
    name: 'an aggregator that restarts', needs: 'contribute',
    run: (stage) => overRestart(stage, false),
  },
  { name: 'an aggregator that gives rows back', needs: 'withdraw', run: takenBack },
  {
    name: 'a release of an aggregator', needs: 'subscribe',
    run: (stage) => overRestart(stage, true),
  },
];
