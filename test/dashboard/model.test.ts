import { describe, expect, it } from 'vitest';
import { pictureOf, type MatrixPicture } from '../../dashboard/base/answer.js';
import { budgetOf, guaranteeInWords, lastsFor } from '../../dashboard/base/budget.js';
import {
  amount, compact, duration, exact, percent, roundTicks, shown, spoken,
} from '../../dashboard/base/format.js';
import {
  History, questionsAsked, reasonInWords, routeOf, type Asked, type StudyEntry,
} from '../../dashboard/base/model.js';
import { intervalOf } from '../../src/answers/intervals.js';
import { wordsOfAll } from '../../dashboard/base/number-words.js';
import { numbersOf } from '../../dashboard/base/numbers.js';
import { pairsOf, summaryOf } from '../../dashboard/base/summary.js';
import { decimalsFor } from '../../src/base/digits.js';
import { refusalReasons, type Outcome } from '../../src/base/outcome.js';
import { ofShortFacts, type ReleaseBody } from '../../src/wire/index.js';
import { document, releaseBody, releaseOf, shortFacts } from '../support/wire-samples.js';
import { refusal, valueOf } from './stage.js';

const entry: StudyEntry = {
  id: '', name: 'a', state: 'open', epoch: '7', closesAtMs: 0, releases: 0, title: '',
  questions: [], document,
};
const askedOf = (change: Partial<StudyEntry>): Asked =>
  questionsAsked({ ...entry, ...change })[0]!;
const release = (number: number, outcome: Outcome): ReleaseBody =>
  releaseOf(outcome, { epoch: BigInt(number), index: BigInt(number) });

describe('the address', () => {
  it('asks for the list, for a study by its id, or for an unknown page', () => {
    for (const hash of ['', '#', '#/', '#content']) {
      expect(routeOf(hash), hash).toEqual({ kind: 'list' });
    }
    const id = '0123456789abcdef'.repeat(4);
    for (const hash of [`#/study/${id}`, `#/study/${id}/`, `#/study/${id.toUpperCase()}`]) {
      expect(routeOf(hash), hash).toEqual({ kind: 'study', id });
      const question = `${hash.replace(/\/$/, '')}/late-1`;
      expect(routeOf(question), question).toEqual({ kind: 'study', id, question: 'late-1' });
    }
    const near = [`/study/${id}/1st`, `/study/${id}/a/b`, `/study/${id.slice(1)}`, `/study/${id}0`, `/studies/${id}`];
    for (const asked of [...near, '/study/flights', '/operator', '%']) {
      expect(routeOf(`#${asked}`)).toEqual({ kind: 'unknown', asked });
    }
    expect(routeOf('#/study/d%C3%A9lai')).toEqual({ kind: 'unknown', asked: '/study/d\u00e9lai' });
    const asked = `${'a'.repeat(97)}...`;
    expect(routeOf(`#${'a'.repeat(1000)}`)).toEqual({ kind: 'unknown', asked });
  });
});

describe('history', () => {
  it('keeps gaps where releases refused, from the first on', () => {
    const history = new History();
    history.take(release(1, refusal));
    expect(history.lastValue).toBeNull();
    history.take(release(2, valueOf([1, 2], [0.5, 1])));
    history.take(release(3, refusal));
    expect(history.series(1)).toEqual({
      epochs: [1, 2, 3], times: [1, 2, 3].map(() => 1_767_225_600_000),
      values: [null, 2, null], lows: [null, 1, null], highs: [null, 3, null],
      refusals: ['participation-below-plan', null, 'participation-below-plan'],
    });
    expect([history.count, history.refused, history.last?.epoch, history.lastValue?.epoch])
      .toEqual([3, 2, 3n, 2n]);
    expect(history.rows.map(({ refusal: why }) => why?.reason ?? null)).toEqual(history.refusals);
  });

  it('forgets what is older than it keeps, in every list alike, and draws a dozen numbers at '
    + 'most', () => {
    const history = new History(10);
    for (let i = 0; i < 1000;
        i++) history.take(release(i, valueOf(Array.from({ length: 40 }, (_, j) => i + j), [])));
    expect(history.count).toBe(1000);
    expect(history.epochs.length).toBeLessThan(20);
    expect(history.rows).toHaveLength(history.epochs.length);
    const { epochs, values } = history.series(11);
    expect(epochs).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
    expect(values).toEqual(epochs.map((epoch) => epoch + 11));
    expect(history.series(12).values).toEqual([]);
  });

  it('takes the interval of the release, else that of its noise, else none', () => {
    const plain = { kind: 'value', estimate: [10], shape: [1] } as const;
    const gaussian = { kind: 'gaussian', standardDeviation: [2] } as const;
    expect(intervalOf({ ...plain, uncertainty: gaussian, interval95: { low: [1], high: [30] } }, 0))
      .toEqual([1, 30]);
    const open = (low: number, high: number) => intervalOf(
      { ...plain, uncertainty: gaussian, interval95: { low: [low], high: [high] } }, 0,
    );
    expect(open(1, Infinity)).toEqual([1, Infinity]);
    expect(open(-Infinity, Infinity)).toBeNull();
    expect(intervalOf({ ...plain, uncertainty: gaussian }, 0)).toEqual([10 - 3.92, 10 + 3.92]);
    expect(intervalOf({ ...plain, uncertainty: { kind: 'grid', spacing: 1 } }, 0)).toBeNull();
  });
});

describe('the budget', () => {
  const body = (spent: bigint, cost: bigint, deltaSpent = 0n, deltaCost = 0n): ReleaseBody => ({
    ...releaseBody,
    cost: { ...releaseBody.cost, rhoAmount: cost, deltaAmount: deltaCost },
    ledger: { ...releaseBody.ledger, rhoSpent: spent, rhoCap: 100n, deltaSpent, deltaCap: 100n },
  });

  it('counts what is spent, set aside and left, and whole epochs only', () => {
    expect(budgetOf(body(30n, 8n), true))
      .toMatchObject({ spentShare: 0.3, reservedShare: 0.08, epochsLeft: 7 });
    expect(budgetOf(body(30n, 8n), true).leftShare).toBeCloseTo(0.62, 12);
    expect(budgetOf(body(30n, 8n), false)).toMatchObject({ reservedShare: 0, epochsLeft: 8 });
    expect(budgetOf(body(96n, 8n), true)).toMatchObject({ reservedShare: 0, epochsLeft: 0 });
    expect(budgetOf(body(100n, 8n), false))
      .toMatchObject({ spentShare: 1, leftShare: 0, epochsLeft: 0 });
  });

  it('shows what runs out first', () => {
    expect(budgetOf(body(30n, 8n, 50n, 25n), false))
      .toMatchObject({ spentShare: 0.5, epochsLeft: 2 });
    expect(budgetOf(body(30n, 0n), false).epochsLeft).toBeNull();
  });

  it('lasts for contributors who have some left, where each has its own', () => {
    const spent = budgetOf(body(100n, 8n), true);
    expect(lastsFor(spent, null, 'open', 'contributor'))
      .toBe('contributors who were in fewer epochs');
    expect(lastsFor(spent, null, 'open', 'study')).toBe('no epoch after this one');
    const left = budgetOf(body(30n, 8n), true);
    expect(lastsFor(left, 1_000, 'open', 'study')).toMatch(/^7 more epochs, about 7\ss$/);
    expect(lastsFor(left, null, 'exhausted', 'study')).toBe('no further epoch');
  });

  it('promises no more than the study does', () => {
    const of = (change: object): string => guaranteeInWords({ ...document, ...change }).sentence;
    expect(of({ participation: 'public' })).toContain('but not that it took part');
    expect(of({ budget: { ...document.budget, scope: 'study' } }))
      .toContain('whether it took part at all');
    expect(guaranteeInWords(document).oddsInAll).toBe(Math.exp(8));
  });
});

describe('numbers for people', () => {
  it('have only the digits that the noise leaves meaningful', () => {
    expect([0.031, 0.99, 1, 16, 99.9, 100, 1600].map((half) => decimalsFor(8.25, half)))
      .toEqual([3, 2, 1, 0, 0, 0, 0]);
    expect([0, null, Infinity].map((half) => decimalsFor(8.25, half))).toEqual([5, 5, 5]);
    expect(shown(8.256, 1.04)).toBe('8.3');
    expect(shown(731.5, 16.3)).toBe('732');
    expect(shown(-0.004, 0.5)).toBe('0.00');
    expect(shown(-1234.5678)).toBe('−1,234.57');
    expect(shown(0.00001234)).toBe('1.234e−5');
    expect(shown(0.000012345678, 2e-9)).toBe('1.23457e−5');
    expect(shown(null)).toBe('none');
  });

  it('keep both ends of an interval apart, however large they are', () => {
    expect(shown(1_764_241_234_567)).toBe('1,764,241,234,567');
    expect(shown(1_764_241_234_567.25, 60)).toBe('1,764,241,234,567');
    expect(shown(1_764_241_234_567.25, 0.04)).toBe('1,764,241,234,567.250');
    expect([3.19e12, 3.2e12, 3.21e12].map((value) => shown(value, 1e10)))
      .toEqual(['3.190e12', '3.200e12', '3.210e12']);
    expect(shown(2.4e9, 3e9)).toBe('2.40e9');
    expect(shown(1.764241234567891e18, 1e9)).toBe('1.7642412346e18');
    expect([1_764_241_100_000, 1_764_241_300_000].map((value) => compact(value, 1e5)))
      .toEqual(['1.7642411T', '1.7642413T']);
    for (let power = -12; power <= 18; power++) {
      for (const share of [1e-9, 1e-6, 1e-3, 0.1, 3]) {
        const [value, half] = [1.2345678912345 * 10 ** power, share * 10 ** power];
        const [low, high] = [value - half, value + half];
        expect(shown(low, half), `${low} to ${high}`).not.toBe(shown(high, half));
        expect(compact(low, half), `${low} to ${high}`).not.toBe(compact(high, half));
      }
    }
  });

  it('are short for amounts, shares and times, and complete for chosen numbers', () => {
    expect([8, 6.5727, 0.00001, 2980.96].map(amount)).toEqual(['8', '6.57', '1e−5', '2,980']);
    expect([0.05, 10_000_000, -15, 1e-12].map(exact))
      .toEqual(['0.05', '10,000,000', '−15', '1e−12']);
    expect([0, 0.0004, 0.025, 0.68, 1].map(percent).map((text) => text.replaceAll('\u00a0', ' ')))
      .toEqual(['0 %', '< 0.1 %', '2.5 %', '68 %', '100 %']);
    expect([9_400, 60_000, 170_000, 3_600_000, 16_200_000, 86_400_000, 259_200_000].map(duration)
      .join()).toBe(
      '9 s,1 min,3 min,1 h,4 h 30 min,1 day,3 days'.replaceAll(' ', '\u00a0'));
    expect(spoken('delay_minutes below -15')).toBe('delay minutes below −15');
  });

  it('mark axes with few round numbers, none of them off the axis', () => {
    expect(roundTicks(-32.9, 115)).toEqual([-20, 0, 20, 40, 60, 80, 100]);
    expect(roundTicks(0.05, 0.36)).toEqual([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]);
    for (const [low, high] of [[-1e-9, 3e-9], [999, 1001], [-7e12, 2e12], [0.1, 0.7]] as const) {
      const ticks = roundTicks(low, high);
      expect(ticks.length, `${low} to ${high}`).toBeGreaterThanOrEqual(4);
      expect(ticks.length).toBeLessThanOrEqual(9);
      expect([ticks[0]! >= low, ticks.at(-1)! <= high]).toEqual([true, true]);
    }
    expect(roundTicks(-37, 137)).toEqual([-25, 0, 25, 50, 75, 100, 125]);
    expect(roundTicks(3, 3)).toEqual([]);
  });

  it('have the names of what is asked, else of the columns, else of their places', () => {
    const namesIn = (asked: Asked, ...estimate: readonly number[]): readonly string[] =>
      wordsOfAll(asked, {
        kind: 'value', estimate, shape: [estimate.length], uncertainty: { kind: 'none' },
      }).map(({ name }) => name);
    const newer = { ...askedOf({}), estimator: 'newer' };
    expect(namesIn(newer, 1, 2)).toEqual(['delay minutes', 'distance miles']);
    expect(namesIn(newer, 1)).toEqual(['number 1 of 1']);
    const parameters = { range: [0, 9], probabilities: [0.5, 0.9] };
    expect(namesIn({ ...askedOf({}), estimator: 'quantile', parameters }, 1, 2))
      .toEqual(['median delay minutes', 'delay minutes that 90\u00a0% of people are below']);
  });

  it('have words for every reason to refuse', () => {
    expect(refusalReasons.filter((reason) => reasonInWords(reason) === reason.replaceAll('-', ' ')))
      .toEqual([]);
    // They do not tell if people came at all.
    for (const reason of ['spread-not-found', 'centre-not-found']) {
      expect(reasonInWords(reason)).toMatch(/^too few people came, or their \w+ could not be found$/);
    }
  });
});

describe('pictures', () => {
  const of = (
    estimate: readonly number[], change: object, parameters: object = {}, estimator = 'x',
  ) => {
    const plain = {
      kind: 'value', estimate, shape: [estimate.length], uncertainty: { kind: 'none' },
    } as const;
    const outcome = { ...plain, ...change };
    return pictureOf(
      askedOf({
        document: ofShortFacts({ ...shortFacts, estimator, parameters: { ...parameters } }),
      }), outcome,
    );
  };

  it('of a mean before a covariance draw both', () => {
    const parts = [{ name: 'mean', shape: [2] }, { name: 'covariance', shape: [2, 2] }];
    const { picture, charts } = of([1, 2, 4, -3, -3, 9], { parts }, {}, 'gaussian');
    expect(picture).toEqual({
      kind: 'matrix', isCovariance: true, size: 2, entries: [4, -3, -3, 9],
      centre: [1, 2], offset: 2, halves: [null, null, null, null],
    });
    expect(charts).toBe(4);
    expect(summaryOf(picture!, askedOf({})))
      .toEqual([['delay minutes and distance miles', '−0.50']]);
  });

  it('of a covariance give every variance before any pair, and of a projector its own '
    + 'entries', () => {
    const columns = ['a', 'b', 'c'];
    const three = askedOf({
      document: ofShortFacts({ ...shortFacts, columns, estimator: 'covariance' }),
    });
    const square =
      valueOf([4, 1, 0.1, 1, 9, -3, 0.1, -3, 16], [1, 0.5, 0.2, 0.5, 2, 0.5, 0.2, 0.5, 4], {
        shape: [3, 3], parts: [{ name: 'covariance', shape: [3, 3] }],
      });
    if (square.kind !== 'value') throw new Error('a value');
    expect(numbersOf(three, square).map(({ place, name }) => ({ place, name }))).toEqual([
      [0, 'variance of a'], [4, 'variance of b'], [8, 'variance of c'],
      [1, 'covariance of a and b'], [2, 'covariance of a and c'], [5, 'covariance of b and c'],
    ].map(([place, name]) => ({ place, name })));
    const history =
      new History(undefined, (outcome) => numbersOf(three, outcome).map(({ place }) => place));
    history.take(release(1, square));
    expect([0, 1, 2].map((slot) => history.at(slot, 0))).toEqual(
      [{ value: 4, interval: [3, 5] }, { value: 9, interval: [7, 11] },
        { value: 16, interval: [12, 20] }]);
    const pairs = pairsOf(pictureOf(three, square).picture as MatrixPicture);
    expect(pairs.map(({ across, up, half, isSure }) => [across, up, half, isSure])).toEqual(
      [[1, 2, 0.5, true], [0, 1, 0.5, true], [0, 2, 0.2, false]]);
    const parts = [{ name: 'projector', shape: [2, 2] }, { name: 'rank', shape: [1] }];
    const { picture, charts } = of([0.5, 0.5, 0.5, 0.5, 1], { parts }, {}, 'subspace');
    expect([picture, charts]).toMatchObject([{ kind: 'matrix', isCovariance: false }, 0]);
    expect(summaryOf(picture!, askedOf({}))).toEqual([['directions of', '2 columns']]);
  });

  it('of mixtures draw the components that weigh something', () => {
    const components = [
      { weight: 0.25, mean: 1, deviation: 2 }, { weight: 0.75, mean: 5, deviation: 3 },
    ];
    const rows = [0.25, 1, 2, 0.75, 5, 3, 0, 0, 0];
    expect(of(rows, { shape: [3, 3] }, { components: 3 }, 'mixture-1d').picture)
      .toEqual({ kind: 'mixture', components });
  });

  it('of mixtures in several columns leave out parts that weigh nothing', () => {
    const parts = [
      { name: 'weights', shape: [2] }, { name: 'means', shape: [2, 2] },
      { name: 'covariances', shape: [2, 2, 2] },
    ];
    const estimate = [1, 0, 3, -4, 0, 0, 4, 1, 1, 9, 0, 0, 0, 0];
    const { picture } = of(estimate, { parts }, { components: 2 }, 'mixture');
    // Two means in two columns are a square, but no matrix.
    const outcome = {
      kind: 'value', estimate, shape: [14], parts, uncertainty: { kind: 'none' },
    } as const;
    expect(numbersOf(askedOf({}), outcome).map(({ place }) => place))
      .toEqual(estimate.map((_, place) => place));
    expect(picture).toEqual({
      kind: 'clouds', clouds: [{ weight: 1, mean: [3, -4], covariance: [[4, 1], [1, 9]] }],
    });
    expect(summaryOf(picture!, askedOf({}))).toEqual([['around 3.00, −4.00', '100\u00a0%']]);
  });

  it('of bins without bounds leave out the bins that were not found', () => {
    const { picture } = of(
      [20, 50, -10, 80, 0, 0], { shape: [3, 2] }, { width: 10, top: 3 }, 'histogram',
    );
    const bins = [{ from: -10, to: 0, count: 80 }, { from: 20, to: 30, count: 50 }];
    expect(picture).toMatchObject({ kind: 'bins', bins });
    expect(summaryOf(picture!, askedOf({}))).toEqual([['−10 to 0', '80'], ['20 to 30', '50']]);
  });

  it('of a category draw its names', () => {
    const names = ofShortFacts({
      ...shortFacts, version: 2, columns: ['region'], estimator: 'histogram',
      types: [{ type: 'category', of: ['north', 'south'], other: true }],
      parameters: { edges: [1, 2] },
    });
    const { picture } = pictureOf(askedOf({ document: names }), {
      kind: 'value', estimate: [7, 9, 2], shape: [3], uncertainty: { kind: 'none' },
    });
    expect(picture).toMatchObject({
      kind: 'bins', bins: [{ name: 'north', count: 7 }, { name: 'south' }, { name: 'other' }],
    });
    expect(summaryOf(picture!, askedOf({ document: names })))
      .toEqual([['south', '9'], ['north', '7'], ['other', '2']]);
  });

  it('of a distribution draw the counts below each edge, and its quantiles over time', () => {
    const parts = [{ name: 'quantiles', shape: [1] }, { name: 'below', shape: [4] }];
    const interval95 = { low: [11, 1, 3, 7, 9], high: [14, 3, 5, 9, 11] };
    const parameters = { range: [0, 20], cells: 2, probabilities: [0.5] };
    const estimate = [12.5, 2, 4, 8, 10];
    const { picture, charts } = of(estimate, { parts, interval95 }, parameters, 'distribution');
    expect(picture).toEqual({
      kind: 'curve', edges: [0, 10, 20], below: [2, 4, 8], low: [1, 3, 7], high: [3, 5, 9], all: 10,
      quantiles: 1,
    });
    expect(charts).toBe(1);
    expect(summaryOf(picture!, askedOf({}))).toEqual([
      ['a quarter below', '10 (0 to 10)'], ['half below', '20 (10 to 20)'],
      ['three quarters below', 'about 20'],
    ]);
    expect(of(estimate, { parts }, { ...parameters, cells: 3 }, 'distribution').picture).toBeNull();
  });

  it('are null if numbers over time show everything', () => {
    expect(of([1, 2], {})).toEqual({ picture: null, charts: 2 });
    expect(of([0], {}, { hypotheses: 'not a list' }, 'select').picture).toBeNull();
  });
});
