// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest';
import {
  audit, inlineTrials, searchPairs, type AuditResult, type NeighbourPair, type TrialSubject,
} from '../../src/audit/index.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import { renderTable } from '../../cli/base/text-table.js';
import { sensitivityFaults } from '../support/sensitivity-check.js';
import { plantedBugs, type PlantedBug } from './bugs.js';

/** `npm run test:planted` runs five times as many trials and prints what caught what. */
const isFull = process.env['KEELSON_PLANTED'] === 'full';
const times = isFull ? 5 : 1;
/** Of the estimator without the defect: it passes with any number. */
const cleanTrials = isFull ? 100_000 : 4_000;
const rows: string[][] = [];

interface Prepared {
  readonly subject: TrialSubject;
  readonly pairs: readonly NeighbourPair[];
  run(trials: number): Promise<AuditResult>;
}

async function prepare(bug: PlantedBug, planted: boolean): Promise<Prepared> {
  const { epsilon, delta, dimension, cohort, keys } = bug;
  const facts: StudyFacts = {
    dimension, cohort, participation: 'secret', target: privacyTarget({ epsilon, delta }),
    ...(keys !== undefined && { keys }),
  };
  const subject = bug.make(facts, planted);
  const pool = inlineTrials(subject, (label) => seededNoise(`${bug.name} ${label}`));
  const pairs = await searchPairs({ plan: subject.plan, facts, parameters: {} }, pool);
  const coins = seededNoise(`${bug.name} coins`);
  return { subject, pairs, run: (trials) =>
    audit({ claim: { epsilon, delta }, pairs, pool, trials, coins }) };
}

async function faults({ subject, pairs }: Prepared): Promise<string[]> {
  const found = await Promise.all(pairs.flatMap((pair) =>
    ['one', 'two', 'three', 'four'].map((seed) => sensitivityFaults(subject, pair, seed))));
  return found.flat();
}

describe.each(plantedBugs)('$name', (bug) => {
  it('is caught by the audit, and is not seen where it is not', async () => {
    const found = await (await prepare(bug, true)).run(times * bug.trials);
    rows.push([
      bug.name, `audit: epsilon >= ${found.bound.toFixed(2)}, claimed ${bug.epsilon}`, found.pair,
    ]);
    expect(found).toMatchObject({ caught: true });
    const clean = await (await prepare(bug, false)).run(Math.min(cleanTrials, bug.trials));
    expect(clean).toMatchObject({ caught: false });
  });

  it('shows in the values of its queries, or only in its noise', async () => {
    const found = await faults(await prepare(bug, true));
    if (found.length > 0) rows.push([bug.name, 'sensitivity check', found[0]!]);
    expect(found.length > 0).toBe(bug.inSensitivity);
    expect(await faults(await prepare(bug, false))).toEqual([]);
  });
});

afterAll(() => {
  if (!isFull) return;
  const place = ([bug]: readonly string[]): number =>
    plantedBugs.findIndex(({ name }) => name === bug);
  rows.sort((one, two) => place(one) - place(two));
  process.stdout.write(`\n${renderTable(['planted bug', 'caught by', 'where'], rows)}\n`);
});
