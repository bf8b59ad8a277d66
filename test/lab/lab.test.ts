import { describe, expect, it } from 'vitest';
import { breakdown, breakdownTable } from '../../cli/lab/breakdown.js';
import { labData } from '../../cli/lab/data.js';
import { EpochRows, type EpochPeople } from '../../cli/lab/baselines.js';
import { Rounds, type Answer, type Round } from '../../cli/lab/rounds.js';
import { labNameOf, labStudies, peopleOf, usualEstimators } from '../../cli/lab/studies.js';
import type { Outcome } from '../../src/base/outcome.js';
import { LabSession } from '../../cli/lab/session.js';
import { estimators } from '../../src/estimators/registry.js';
import { LabController, Script, type Setting } from '../../cli/lab/setting.js';

const setting: Setting = { attack: 'shift', corruption: 0.1 };

const answer = (error: number | null, promised = 0.2): Answer => ({
  estimator: 'mean', epoch: 1n, outcome: error === null ? 'refused' : 'value', estimate: null,
  error, promised, epsilonSpent: 1,
});

const round = (index: number, answers: readonly Answer[], change: Partial<Round> = {}): Round => ({
  index, setting, truth: [0], honest: 9, hostile: 1, honestFewest: 9, answers, picture: null,
  baselines: { 'naive-mean': 0.5, 'coordinate-median': 0.1, 'robust-filter': 0.05 },
  baselineEstimates: { 'naive-mean': [0.5], 'coordinate-median': [0.1], 'robust-filter': [0.05] },
  ...change,
});

function add(people: EpochPeople, row: readonly number[], isHostile: boolean): void {
  const values = Float64Array.from(row);
  people.add(values, isHostile, values);
}

describe('the lab\'s own reckoning', () => {
  it('knows the honest mean, and three answers that do not know who is hostile', () => {
    const rows = new EpochRows([1, 10]);
    for (let i = 0; i < 90; i++) {
      add(rows, [(i % 3) - 1, 10 * ((i % 5) - 2)], false);
    }
    for (let i = 0; i < 10; i++) add(rows, [50, 500], true);
    const { truth, honest, hostile, baselines } = rows.compute()!;
    expect([honest, hostile]).toEqual([90, 10]);
    truth.forEach((value) => expect(value).toBeCloseTo(0, 9));
    expect(baselines['naive-mean']!.estimate[0]).toBeCloseTo(5, 9);
    expect(baselines['naive-mean']!.estimate[1]).toBeCloseTo(50, 9);
    expect(Math.abs(baselines['coordinate-median']!.estimate[0]!)).toBeLessThan(1.01);
    expect(baselines['robust-filter']!.error).toBeLessThan(0.1);
    expect(new EpochRows([1]).compute()).toBeNull();
  });

  it('pictures rows by their share, and tells what the robust filter left out', () => {
    const rows = new EpochRows([1, 10]);
    for (let i = 0; i < 2700; i++) add(rows, [(i % 3) - 1, 10 * ((i % 5) - 2)], false);
    for (let i = 0; i < 300; i++) add(rows, [50, 500], true);
    const { rows: pictured, leftOut, centre, reach } = rows.compute()!.picture!;
    expect(pictured).toHaveLength(750);
    expect(pictured.filter(({ isHostile }) => isHostile)).toHaveLength(75);
    expect(pictured.filter(({ isHostile, isKept }) => isHostile === isKept)).toEqual([]);
    expect(pictured.at(-1)).toEqual({ values: [50, 500], isHostile: true, isKept: false });
    expect(leftOut).toEqual({ honest: 0, hostile: 300 });
    expect(Math.hypot(centre[0]!, centre[1]! / 10)).toBeLessThan(0.5);
    expect(reach).toBeGreaterThan(2.3);
    expect(reach).toBeLessThan(60);
  });

  it('has people whose rows are the same in every study, and of about one spread', () => {
    for (const data of labData) {
      const source = data.source(500, new Uint8Array(32).fill(7));
      expect(source(3, 2n, 'one')).toEqual(source(3, 2n, 'other'));
      expect(source(3, 2n, 'one')).not.toEqual(source(3, 3n, 'one'));
      expect(source(3, 2n, 'one')).toHaveLength(data.rows * data.columns.length);
      const firsts = Array.from({ length: 500 }, (_, i) => source(i, 1n, 's')[0]!);
      const mean = firsts.reduce((sum, value) => sum + value / 500, 0);
      const spread = Math.sqrt(firsts.reduce((sum, value) => sum + (value - mean) ** 2 / 500, 0));
      expect(spread / data.spread[0]!).toBeGreaterThan(0.4);
      expect(spread / data.spread[0]!).toBeLessThan(2.5);
    }
  });
});

describe('the studies of a lab', () => {
  it('take no row of an earlier round: what liars did then is not in the truth of this one', () => {
    const studies = labStudies(
      { data: labData[0]!, contributors: 4000, epochMs: 5000, epsilon: 2, promise: 0.1 },
      ['mean', 'robust-mean']);
    expect(studies.map(({ document }) => document.late)).toEqual(['drop', 'drop']);
  });

  it('are of means only: other answers are refused with what they are', () => {
    const planned = { contributors: 24_000, epochMs: 5000, epsilon: 2, promise: 0.1 };
    const facts = { data: labData[0]!, ...planned };
    const others = [
      'count', 'sum', 'histogram', 'quantile', 'distribution', 'subspace', 'covariance',
      'stable-covariance', 'subsample-covariance', 'stable-moments', 'gaussian',
      'select', 'mixture-1d', 'mixture', 'share', 'ratio',
    ];
    for (const name of others) {
      expect(() => labStudies(facts, ['mean', name]), name).toThrow(
        `an answer of ${name} is not one number for each column: leave it out`);
    }
    expect(() => labStudies({ ...facts, promise: 0.45 }, ['prime']))
      .toThrow('; lower --corruption');
    expect(() => labStudies(facts, ['mean', 'median']))
      .toThrow('an answer of median is not a mean: leave it out');
    const rest = estimators.map(({ name }) => name)
      .filter((name) => !others.includes(name) && name !== 'median');
    // The passes of stable-mean over so many people do not fit shorter epochs.
    expect(labStudies({ ...facts, epochMs: 60_000 }, rest)).toHaveLength(rest.length);
  });
});

describe('answers by key', () => {
  const rides = labData.find(({ name }) => name === 'rides')!;
  const facts = { data: rides, contributors: 2_000, epochMs: 5000, epsilon: 2, promise: 0.1 };
  const studies = labStudies(facts, usualEstimators(rides));
  const outcome = (estimate: readonly number[], groups: readonly string[]): Outcome => ({
    kind: 'value', estimate, shape: [estimate.length], groups: groups.map((key) => [key]),
    uncertainty: { kind: 'gaussian', standardDeviation: estimate.map(() => 1) },
  });
  const judged = (name: string, own: Outcome) => {
    const definition = studies.find(({ document }) => labNameOf(document) === name)!;
    const people = peopleOf(definition.document, rides);
    for (let i = 0; i < 900; i++) add(people, [10, i % 3, i % 3], false);
    for (let i = 0; i < 100; i++) add(people, [1e6, 0, 9, 1e6, 3, 9], true);
    const { plan } = definition.questions[0];
    const compared = people.compute()!;
    return {
      ...compared, ...compared.judge({ plan, cohort: 1_000, outcome: own, corruption: 0.1 }),
    };
  };
  const regions = ['north', 'south', 'east', 'west'];

  it('have a study each, with one question', () => {
    expect(studies.map(({ document }) => labNameOf(document)))
      .toEqual(['count', 'sum', 'mean', 'robust-mean', 'discovered']);
    expect(() => labStudies(facts, ['median'])).toThrow('none is called median: use count, sum');
  });

  it('are compared with honest people by key, in the unit of their promise', () => {
    const counts = judged('count', outcome([400, 300, 300, 0], regions));
    expect(counts.error).toBeCloseTo(0.1, 9);
    expect(counts.promised).toBeGreaterThan(0.1);
    // Each row of a liar counts without privacy.
    expect(counts.baselines['plain count']!.estimate).toEqual([400, 300, 300, 100]);
    const sums = judged('sum', outcome([3_000 + 240 * 100, 3_000, 3_000, 0], regions));
    expect(sums.error).toBeCloseTo(0.1, 9);
    expect(sums.baselines['plain sum']!.error).toBeGreaterThan(100);
    expect(judged('mean', outcome([130, 10, 10, 0], regions)).error).toBeCloseTo(1, 9);
    // A quarter of the people of north lie: nothing is promised for it.
    expect(judged('robust-mean', outcome([10, 40, 10, 0], regions)))
      .toMatchObject({ error: 1, promised: Infinity });
    expect(judged('discovered', outcome([310, 300, 100], ['a', 'b', 'forged'])).error)
      .toBeCloseTo(Math.hypot(10, 0, 100) / 1_000, 9);
    expect(judged('count', { kind: 'refused', reason: 'interrupted', text: '' }).error).toBeNull();
  });
});

describe('the list that a person chooses from', () => {
  it('has the recommended means first, each with its maturity and what it assumes', () => {
    const session = new LabSession({
      epochMs: 5000, promise: 0.1, setting,
      scene: { data: 'flights', estimators: ['mean'], contributors: 4000, epsilon: 4 },
      seed: 'list', host: '127.0.0.1', port: 0, signal: new AbortController().signal,
    });
    const listed = session.programme().estimators;
    expect(listed.slice(0, 3).map(({ name }) => name))
      .toEqual(['mean', 'robust-mean', 'prime-heavy']);
    const firstOfResearch = listed.findIndex(({ maturity }) => maturity === 'research');
    expect(firstOfResearch).toBe(3);
    expect(listed.slice(3).every(({ maturity }) => maturity === 'research')).toBe(true);
    expect(listed.every(({ assumption }) => assumption !== '')).toBe(true);
  });
});

describe('rounds of several studies', () => {
  it('are reported once every study has answered, with any numbers of epochs', () => {
    const told: Round[] = [];
    const rounds = new Rounds(['a', 'b'], (one) => told.push(one));
    const roundBaselines = {
      truth: [1], honest: 9, hostile: 1, picture: null, judge: () => ({ error: 0, promised: 0 }),
      baselines: {
        'naive-mean': { estimate: [3], error: 2 }, 'coordinate-median': { estimate: [1], error: 0 },
        'robust-filter': { estimate: [0], error: 1 },
      },
    };
    const part = (error: number) => ({ setting, roundBaselines, answer: answer(error) });
    rounds.add('a', 0, part(0.1));
    rounds.add('a', 1, part(0.3));
    expect(told).toEqual([]);
    rounds.add('b', 0, part(0.2));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      index: 0, baselines: { 'naive-mean': 2, 'coordinate-median': 0, 'robust-filter': 1 },
      answers: [{ error: 0.1 }, { error: 0.2 }],
    });
  });

  it('skip a round for which everybody was late, and count it once', () => {
    const told: Round[] = [];
    const rounds = new Rounds(['a', 'b'], (one) => told.push(one));
    const roundBaselines = {
      truth: [1], honest: 9, hostile: 1, picture: null, judge: () => ({ error: 0, promised: 0 }),
      baselines: {
        'naive-mean': { estimate: [3], error: 2 }, 'coordinate-median': { estimate: [1], error: 0 },
        'robust-filter': { estimate: [0], error: 1 },
      },
    };
    const part = { setting, roundBaselines, answer: answer(0.1) };
    rounds.add('a', 0, part);
    expect([rounds.lose(0), rounds.lose(0)]).toEqual([true, false]);
    rounds.add('b', 0, part);
    expect(told).toEqual([]);
    for (const study of ['a', 'b']) rounds.add(study, 1, part);
    expect(told.map(({ index }) => index)).toEqual([1]);
  });

  it('follow a script, or what a person had set when the round began', () => {
    const script = new Script([setting]);
    expect([script.settingOf(0), script.settingOf(1)]).toEqual([setting, null]);
    const far = { attack: 'far', corruption: 0.2 };
    expect([script.again(far), script.settingOf(1), script.rounds]).toEqual([true, far, 2]);
    // A machine that spoils every round must not play for ever.
    expect([script.again(far), script.settingOf(2)]).toEqual([false, null]);
    const controller = new LabController(setting);
    expect(controller.settingOf(0)).toEqual(setting);
    controller.current = { attack: 'far', corruption: 0.2 };
    expect(controller.settingOf(0)).toEqual(setting);
    expect(controller.settingOf(1)).toEqual({ attack: 'far', corruption: 0.2 });
  });
});

describe('the breakdown', () => {
  it('takes the median of each attack and share, and says whether the promise was kept', () => {
    const far: Setting = { attack: 'far', corruption: 0.3 };
    const rows = breakdown([
      round(0, [answer(0.1)]), round(1, [answer(0.5)]), round(2, [answer(0.3)]),
      round(3, [answer(0.7, Infinity)], { setting: far }),
      round(4, [answer(null, Infinity)], { setting: far }),
    ]);
    expect(rows).toMatchObject([
      {
        attack: 'shift', corruption: 0.1, rounds: 3,
        answers: [{ error: 0.3, worstError: 0.5, keptPromise: true }],
      },
      {
        attack: 'far', corruption: 0.3, rounds: 2,
        answers: [{ error: 0.7, refused: 1, promised: null, keptPromise: null }],
      },
    ]);
    const again: Setting = { attack: 'shift', corruption: 0.05 };
    expect(
      breakdown([
        round(0, [answer(0.1)]), round(1, [answer(0.1)], { setting: far }),
        round(2, [answer(0.1)], { setting: again }),
      ])
        .map(({ attack, corruption }) => `${attack} ${corruption}`),
    ).toEqual(['shift 0.05', 'shift 0.1', 'far 0.3']);
    const broken = breakdown([round(0, [answer(0.41)])]);
    expect(broken[0]!.answers[0]!.keptPromise).toBe(false);
    expect(breakdownTable(broken)).toEqual({
      head: ['attack', 'hostile', 'naive', 'median', 'filter', 'mean'],
      lines: [['shift', '10 %', '0.50', '0.10', '0.05', '0.41 (0.20) !']],
    });
    expect(breakdownTable(rows).lines[1]!.at(-1)).toBe('0.70');
  });
});
