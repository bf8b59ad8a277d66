import { describe, expect, it } from 'vitest';
import type { Score } from '../../cli/demo/scoreboard.js';
import { askedLines, storyLines, type StoryFacts } from '../../cli/demo/story.js';
import { demoStudies } from '../../cli/demo/studies.js';

const studies = demoStudies({
  contributors: 1600, epochs: 1, epochMs: 8000, epsilon: 2, corruption: 0.1, keep: false,
});
const facts: StoryFacts = {
  address: 'http://127.0.0.1:1', operatorToken: '/tmp/demo/operator.token', studies,
  pages: new Map(studies.map(({ document: { study } }) => [study, `http://127.0.0.1:1/#/${study}`])),
  contributors: 1600, corruption: 0.1, attack: 'shift',
};
const score = (study: string, estimate: number[] | null, ends: [number, number] | null): Score => ({
  study, epoch: 1n, outcome: estimate === null ? 'refused' : 'value', estimate,
  intervals: [ends], truth: [8, 500], naive: [16.06, 620], error: 0, naiveError: 1,
  epsilonSpent: 1, epsilonLeft: 1, contributors: 1600,
});

describe('the story of the demonstration', () => {
  it('says what is asked and who lies', () => {
    expect(askedLines(facts).slice(1)).toEqual([
      '1600 people each send 8 of their flights, and nobody may learn whose they are.',
      '160 of them lie together (shift).',
    ]);
    expect(askedLines({ ...facts, corruption: 0 }).at(-1)).toBe('Nobody lies.');
  });

  it('puts truth, plain mean and both answers beside each other, and says where to look', () => {
    expect(storyLines(facts, [
      score('flights-mean', [15.99, 624], [14, 18]),
      score('flights-robust', [8.22, 506], [-9.3, 25.7]),
    ])).toEqual([
      'In short, how many minutes a flight is late:',
      '   8.00  the honest people; only this demonstration knows it',
      '  16.06  the plain mean of all that was sent',
      '  15.99  flights-mean: is private, and believes the lies',
      '   8.22  flights-robust: is private, and holds the lies off',
      '         95 % interval, also if 10 % lie: -9.3 to 25.7',
      'look at it:', '  http://127.0.0.1:1/#/flights-robust',
      'look behind it, as the operator:', '  http://127.0.0.1:1/operator',
      '  with the token in /tmp/demo/operator.token',
    ]);
  });

  it('claims nothing that was not answered, and no lies where there are none', () => {
    const lines = storyLines({ ...facts, corruption: 0 }, [
      score('flights-mean', [8.1, 499], null), score('flights-robust', null, null),
    ]);
    expect(lines.slice(3, 5)).toEqual([
      '   8.10  flights-mean: is private', '      -  flights-robust: no answer this time',
    ]);
  });
});
