import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/base/outcome.js';
import type { Question } from '../../src/base/questions.js';
import {
  releasesRemembered, remembersKeys, RememberedKeys,
} from '../../src/base/remembered-keys.js';

const question = (name: string, remember?: number): Question => ({
  name, estimator: 'count', parameters: {}, columns: [], where: [], reduce: 'one', part: 50,
  by: {
    columns: ['app'], groupsMax: 1,
    discover: { top: 9, prefilter: 2, ...(remember !== undefined && { remember }) },
  },
});
const questions = [question('two', 2), question('none')];
const shown = (...groups: readonly string[]): Outcome => ({
  kind: 'value', estimate: groups.map(() => 1), shape: [groups.length],
  groups: groups.map((key) => [key]),
  uncertainty: { kind: 'none' },
});
const refused: Outcome = { kind: 'refused', reason: 'interrupted', text: 'interrupted' };

describe('remembered keys', () => {
  it('are the first of the newest answer, of questions that remember any', () => {
    const remembered = new RememberedKeys(questions);
    expect(remembered.known).toEqual([]);
    remembered.take([shown('a', 'b', 'c'), shown('x')]);
    expect(remembered.known).toEqual([{ question: 'two', keys: [['a'], ['b']] }]);
    remembered.take([shown('c', 'b', 'a'), refused]);
    expect(remembered.known).toEqual([{ question: 'two', keys: [['c'], ['b']] }]);
    remembered.take([refused, shown('y')]);
    expect(remembered.known).toEqual([{ question: 'two', keys: [['c'], ['b']] }]);
    expect(remembersKeys(questions)).toBe(true);
    expect(remembersKeys([question('none')])).toBe(false);
  });

  it('are the same for who reads the newest releases only', () => {
    for (const gap of [0, 1, releasesRemembered - 1, releasesRemembered, 40]) {
      const log = [shown('a', 'b'), ...new Array<Outcome>(gap).fill(refused)];
      const [all, newest] = [new RememberedKeys(questions), new RememberedKeys(questions)];
      for (const outcome of log) all.take([outcome, refused]);
      for (const outcome of log.slice(-releasesRemembered)) newest.take([outcome, refused]);
      expect(newest.known).toEqual(all.known);
      expect(all.known.length).toBe(gap < releasesRemembered ? 1 : 0);
    }
  });
});
