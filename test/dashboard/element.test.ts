import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { answersTo, chartNamed, chartsOf } from '../../dashboard/element/charts.js';
import { requestOf } from '../../dashboard/embed/request.js';
import type { Outcome } from '../../src/base/outcome.js';
import { ofShortFacts, type ReleaseBody, type ShortFacts } from '../../src/wire/index.js';
import { valueOf } from '../support/dashboard-stage.js';
import { root } from '../support/sources.js';
import { shortFacts } from '../support/wire-samples.js';

/** The charts of a study after one release. */
function chartsAfter(
  change: Partial<ShortFacts>, outcome: Outcome,
): ReturnType<typeof chartsOf> {
  const answers = answersTo(ofShortFacts({ ...shortFacts, ...change }));
  const cost = { rhoAmount: 1n, deltaAmount: 1n };
  const answered = { epoch: 7n, closedAtMs: 1n, answers: [{ outcome }], cost };
  const release = answered as unknown as ReleaseBody;
  for (const { history } of answers) history.take(release);
  return chartsOf(answers);
}

describe('the element', () => {
  it('has less than 64 KB compressed', () => {
    const bytes = gzipSync(readFileSync(`${root}dist/browser/keelson-chart.js`)).length;
    process.stdout.write(`chart element: ${bytes} bytes compressed\n`);
    expect(bytes).toBeLessThan(64_000);
  });

  it('names the numbers of a study out of its signed facts', () => {
    const charts = chartsAfter({
      columns: ['delay'], estimator: 'quantile',
      parameters: { range: [0, 60], probabilities: [0.5, 0.9] },
    }, valueOf([8, 30], [1, 2]));
    expect(charts.map(({ name, words }) => [name, words.name])).toEqual([
      ['answer.0', 'median delay'], ['answer.1', 'delay that 90\u00a0% of people are below'],
    ]);
  });

  it('draws bins with fixed edges over time, and none that are others in each release', () => {
    const bins = valueOf([5, 6, 7], [1, 1, 1]);
    const fixed = chartsAfter(
      { columns: ['delay'], estimator: 'histogram', parameters: { edges: [0, 15] } }, bins);
    expect(fixed.map(({ words }) => words.name))
      .toEqual(['delay below 0', 'delay 0 to 15', 'delay from 15']);
    const found = chartsAfter(
      { columns: ['delay'], estimator: 'histogram', parameters: { width: 15, top: 2 } },
      valueOf([0, 5, 15, 6], [0, 1, 0, 1], { shape: [2, 2] }));
    expect(found).toEqual([]);
  });

  it('finds a number by question, by place, and by both', () => {
    const charts = chartsAfter({}, valueOf([1, 2], [1, 1]));
    const slot = (wanted: string): number | undefined => chartNamed(charts, wanted)?.slot;
    expect(['', 'answer', 'answer.1', '1', '.1', '2', 'other', 'no such!'].map(slot))
      .toEqual([0, 0, 1, 1, 1, undefined, undefined, undefined]);
  });
});

describe('the address of an embedded page', () => {
  it.each([
    ['/embed/flights', '', { studies: ['flights'], chart: '', every: null, theme: null }],
    ['/embed/a%20b', '?chart=answer.1&theme=dark',
      { studies: ['a b'], chart: 'answer.1', every: null, theme: 'dark' }],
    ['/embed/flights', '?chart=all', { studies: ['flights'], chart: 'all', every: 15 }],
    ['/embed/%', '?every=1&theme=pink', { studies: ['%'], every: 3, theme: null }],
    ['/kiosk', '', { studies: [], every: 15 }],
    ['/kiosk', '?studies=a,b,&every=60', { studies: ['a', 'b'], every: 60 }],
    ['/kiosk', '?every=-4', { studies: [], every: 15 }],
  ])('%s%s', (path, search, wanted) => {
    expect(requestOf(path, search)).toMatchObject(wanted);
  });
});
