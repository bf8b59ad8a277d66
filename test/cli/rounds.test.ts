import { describe, expect, it } from 'vitest';
import { Rounds } from '../../cli/demo/rounds.js';
import type { Score } from '../../cli/demo/scoreboard.js';

const studies = ['a', 'b'];
const score = (study: string, epoch: bigint): Score => ({
  study, epoch, outcome: 'value', estimate: [1], intervals: [null], truth: [1], naive: [2],
  error: 0, naiveError: 1,
  epsilonSpent: 1, epsilonLeft: 1, contributors: 10,
});

/**
 * What rounds come of releases, given as "study epoch", with "-" behind those with no row in time.
 */
function roundsOf(
  releases: readonly string[], wanted = 9,
): { readonly shown: string[]; readonly rounds: Rounds<Score> } {
  const shown: string[] = [];
  const rounds = new Rounds<Score>(studies, wanted, (scores) =>
    shown.push(scores.map(({ study, epoch }) => `${study}${epoch}`).join(' ')));
  for (const release of releases) {
    const [study, epoch, nobody] = release.split(' ');
    rounds.add(study!, BigInt(epoch!), nobody === undefined ? score(study!, BigInt(epoch!)) : null);
  }
  return { shown, rounds };
}

describe('the rounds of the demonstration', () => {
  it('show both studies of an epoch together, in epoch order, whichever release comes '
    + 'first', () => {
    expect(roundsOf(['b 1', 'b 2', 'a 1', 'a 2', 'a 3']).shown).toEqual(['a1 b1', 'a2 b2']);
  });

  it('leave out an epoch in which one study got no row in time, and count it', () => {
    const { shown, rounds } = roundsOf(['a 1 -', 'b 1 -', 'a 2', 'b 2 -', 'a 3', 'b 3']);
    expect(shown).toEqual(['a3 b3']);
    expect(rounds.lostEpochs).toBe(2);
  });

  it('pass over an epoch that one study never released', () => {
    expect(roundsOf(['a 1', 'b 2', 'a 2']).shown).toEqual(['a2 b2']);
  });

  it('end after as many as were wanted', () => {
    const { shown, rounds } = roundsOf(['a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'], 2);
    expect(shown).toEqual(['a1 b1', 'a2 b2']);
    expect(rounds.isDone).toBe(true);
  });
});
