import { describe, expect, it } from 'vitest';
import { cellsOf, columnsOf, columnsWithin } from '../../dashboard/base/heat.js';
import type { Asked, KeptAnswer, ValueOutcome } from '../../dashboard/base/model.js';
import { History } from '../../dashboard/base/model.js';
import { heatDrawing, heatPlaceAt, type HeatFrame } from '../../dashboard/charts/heat.js';
import type { ReleaseBody } from '../../src/wire/index.js';
import { refusal, valueOf } from '../support/dashboard-stage.js';

const colours = {
  ink: 'ink', quiet: 'quiet', line: 'line', accent: 'accent', warn: 'warn', card: 'card',
  minus: 'minus',
};
const asked = (estimator: string, parameters: object): Asked => ({
  name: 'answer', estimator, parameters, columns: ['delay'], title: '', parameterWords: {},
  cost: undefined,
} as unknown as Asked);
const histogram = asked('histogram', { edges: [0, 15] });
const value = (...of: Parameters<typeof valueOf>): ValueOutcome => valueOf(...of) as ValueOutcome;
const frame: HeatFrame = { width: 300, height: 148, left: 92, axis: 'epoch' };

const answers = (count: number): readonly KeptAnswer[] => Array.from({ length: count }, (_, i) => ({
  epoch: 7 + i, time: 1_000 * i,
  outcome: i === 1 ? refusal : value([10, 30, 60], [5, 5, 5]),
}));

describe('a distribution over time', () => {
  it('has the share of each bin, and its count with the interval', () => {
    const cells = cellsOf(histogram, value([10, 30, 60], [5, 5, 5]))!;
    expect(cells.map(({ name, weight, text }) => [name, weight, text])).toEqual([
      ['below 0', 0.1, '10 people, 95 % interval 5 to 15'],
      ['0 to 15', 0.3, '30 people, 95 % interval 25 to 35'],
      ['15 and more', 0.6, '60 people, 95 % interval 55 to 65'],
    ]);
  });

  it('shades nothing for a count that noise pushed below zero', () => {
    const [first] = cellsOf(histogram, value([-4, 30, 60], [5, 5, 5]))!;
    expect(first).toMatchObject({
      weight: 0, text: '0 to 1 people, 95 % interval, cut at what is possible',
    });
  });

  it('takes people between two edges from the counts below, with both ends of the band', () => {
    const below = [100, 400, 1_000];
    const spread = {
      ...value([5, ...below], [1, 20, 20, 20]), shape: [4],
      parts: [{ name: 'quantiles', shape: [1] }, { name: 'below', shape: [3] }],
    } as ValueOutcome;
    const curve = asked('distribution', { edges: [0, 10], probabilities: [0.5] });
    // A strip needs two cells at least.
    expect(cellsOf(curve, spread)).toBeNull();
    const three = {
      ...value([5, 100, 400, 900, 1_000], [1, 20, 20, 20, 20]), shape: [5],
      parts: [{ name: 'quantiles', shape: [1] }, { name: 'below', shape: [4] }],
    } as ValueOutcome;
    const parameters = { edges: [0, 10, 30], probabilities: [0.5] };
    const cells = cellsOf(asked('distribution', parameters), three)!;
    expect(cells.map(({ from, to, weight, text }) => [from, to, weight, text])).toEqual([
      [0, 10, 0.03, '300 people, 95 % interval 260 to 340'],
      [10, 30, 0.025, '500 people, 95 % interval 460 to 540'],
    ]);
  });

  it('is darker where quantiles are closer, and bears their noise', () => {
    const quantiles = asked('quantile', { probabilities: [0.25, 0.5, 0.75], range: [0, 99] });
    const cells = cellsOf(quantiles, value([10, 12, 11], [1, 1, 1]))!;
    expect(cells.map(({ from, to, weight }) => [from, to, weight]))
      .toEqual([[10, 12, 0.125], [11, 12, 0.25]]);
    expect(cells[0]!.name).toBe('25 to 50 % of people');
    expect(cells[0]!.text).toContain('95 % interval 9');
  });

  it.each([
    ['found bins', 'histogram', { width: 15, top: 2 }], ['one quantile', 'quantile',
      { probabilities: [0.5] }], ['a mean', 'mean', {}],
  ])('has no strip of %s', (_, estimator, parameters) => {
    expect(cellsOf(asked(estimator, parameters), value([0, 5, 15, 6], [0, 1, 0, 1], {
      shape: [2, 2] }))).toBeNull();
  });

  it('has a column for each release, a cross for a refused one, and finds cells by place', () => {
    const columns = columnsOf(histogram, answers(4))!;
    expect(columns.map(({ epoch, refusal: why }) => [epoch, why === null]))
      .toEqual([[7, true], [8, false], [9, true], [10, true]]);
    const { marks } = heatDrawing(columns, true, frame, null, colours);
    expect(marks.filter(({ colour }) => colour === 'accent')).toHaveLength(9);
    expect(marks.filter(({ colour }) => colour === 'warn')).toHaveLength(2);
    expect(heatPlaceAt(columns, frame, 95, 12)).toEqual({ column: 0, cell: 2 });
    expect(heatPlaceAt(columns, frame, 290, 104)).toEqual({ column: 3, cell: 0 });
    expect(heatPlaceAt(columns, frame, 20, 50)).toBeNull();
    expect(columnsWithin(columns, { range: 'all', chosen: [9, 10] }).map(({ epoch }) => epoch))
      .toEqual([9, 10]);
    expect(columnsOf(histogram, answers(2))).toBeNull();
  });

  it('has times below it that are round, as far as there are such releases', () => {
    const start = new Date(2_026, 0, 5, 10, 0, 13).getTime();
    // Each closes ten seconds after the one before.
    const many = Array.from({ length: 60 }, (_, i): KeptAnswer => ({
      epoch: 1 + i, time: start + 10_000 * i, outcome: value([10, 30, 60], [5, 5, 5]),
    }));
    const { marks } = heatDrawing(
      columnsOf(histogram, many)!, true, { ...frame, width: 700, axis: 'time' }, null, colours,
    );
    const texts = marks.flatMap((mark) => (mark.kind === 'text' ? [mark.text] : []));
    expect(texts.filter((text) => text.includes(':')))
      .toEqual(['10:02', '10:04', '10:06', '10:08']);
  });

  it('keeps the newest answers in full, only where they are asked for', () => {
    const kept = (keeps: boolean): number => {
      const history = new History(10, undefined, 0, keeps);
      for (let i = 0; i < 1_000; i++) {
        history.take({
          epoch: BigInt(i), closedAtMs: 1n, answers: [{ outcome: valueOf([1, 2], [1, 1]) }],
          cost: { rhoAmount: 1n, deltaAmount: 1n },
        } as unknown as ReleaseBody);
      }
      return history.answers.length;
    };
    expect(kept(false)).toBe(0);
    expect(kept(true)).toBeGreaterThanOrEqual(150);
    expect(kept(true)).toBeLessThan(300);
  });
});
