import { describe, expect, it } from 'vitest';
import { askedOf, hashOf, isWithin, usual, type Asked } from '../../dashboard/plan/state.js';
import { placeOf, steps } from '../../dashboard/plan/steps.js';
import { studyFileOf } from '../../dashboard/plan/study-file.js';
import { whatIf, type Goal, type Point, type Rating } from '../../dashboard/plan/what-if.js';
import { errorText } from '../../dashboard/plan/words.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { questionNames } from '../../src/question-names.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { planStudy } from '../../src/plan-study.js';

const found = (change: Partial<Asked>): {
  readonly asked: Asked; readonly rating: Rating; readonly goal?: Goal;
  readonly points: readonly Point[];
} => {
  const asked = askedOf(hashOf({ ...usual, ...change }));
  const all = [...whatIf(asked)];
  return {
    asked, rating: all.find((each) => each.kind === 'rating')!,
    ...all.find((each) => each.kind === 'goal') && { goal: all.find((each) =>
      each.kind === 'goal')! },
    points: all.filter((each) => each.kind === 'point'),
  };
};

describe('what a person asks', () => {
  it('is the same after it was in an address, and as usual where the address is wrong', () => {
    const asked: Asked = {
      ...usual, question: 'covariance', people: 123, columns: 7, epsilon: 0.3, delta: 0,
      hostile: 0.1, epochs: 365, every: '7d', spread: 2.5, error: 0.01,
    };
    expect(askedOf(hashOf(asked))).toEqual(asked);
    expect(hashOf(usual)).toBe('');
    expect(askedOf('#people=many&epsilon=-1&columns=2.5&question=age&every=2d&low=5&high=1'))
      .toEqual(usual);
    expect(askedOf('#question=share&columns=9').columns).toBe(1);
  });

  it('is reached by every slider, whose steps are all allowed', () => {
    for (const [name, values] of Object.entries(steps)) {
      values.forEach((value, place) => {
        expect(isWithin(name as keyof typeof steps, value)).toBe(true);
        expect(placeOf(name as keyof typeof steps, value)).toBe(place);
      });
    }
    expect(steps.people[placeOf('people', 21_345)]).toBe(20_000);
  });
});

describe('what follows from it', () => {
  it.each(questionNames)('has a study file that a server plans likewise, for %s', (question) => {
    const { asked, rating } = found({ question, people: 200_000, epochs: 40 });
    const chosen = rating.estimators.find(({ isChosen }) => isChosen)!;
    const { document } = parseStudyText(studyFileOf(asked, rating)!, { name: 'my-study.yaml' });
    const planned = planStudy(document, findEstimator);
    expect(planned.releases).toBe(rating.budget!.epochs);
    expect(planned.releases).toBeGreaterThanOrEqual(40);
    const [{ plan }] = planned.questions;
    expect(plan.expectedError(asked.hostile).total).toBe(chosen.error!.total);
    expect(chosen.least).toBeLessThanOrEqual(200_000);
  });

  it('has the noise that a study of few epochs draws, by the rule with the least', () => {
    const noiseOf = (epochs: number): readonly [number, string] => {
      const { asked, rating } = found({ question: 'count', epochs, hostile: 0 });
      const { document } = parseStudyText(studyFileOf(asked, rating)!, { name: 'my-study.yaml' });
      const { noise } = rating.estimators.find(({ isChosen }) => isChosen)!.error!;
      return [noise * asked.people, `${document.budget.rule} ${document.noise}`];
    };
    // By zCDP alone all of them have 4.56.
    expect(noiseOf(1)).toEqual([expect.closeTo(1.54, 1) as number, 'zcdp laplace']);
    expect(noiseOf(5)).toEqual([expect.closeTo(3.26, 1) as number, 'zcdp laplace']);
    expect(noiseOf(100)).toEqual([expect.closeTo(4.22, 1) as number, 'gaussian gaussian']);
  });

  it('takes the number of people, the epsilon or the corruption that an error needs', () => {
    const asked = { people: 3000, hostile: 0.02, error: 0.2 };
    const { goal } = found({ ...asked, people: 2000 });
    expect(goal!.people).toBeGreaterThan(2000);
    for (const change of [{ people: goal!.people! }, { people: 2000, epsilon: goal!.epsilon! }]) {
      const { rating } = found({ ...asked, ...change });
      expect(rating.estimators.find(({ isChosen }) => isChosen)!.error!.total)
        .toBeLessThanOrEqual(0.2);
    }
    expect(found({ ...asked, people: goal!.people! - 1 }).rating.estimators
      .every(({ error }) => error === null || error.total > 0.2)).toBe(true);
    // Nobody can bring the error below what the liars do.
    expect(found({ hostile: 0.1, error: 0.01 }).goal)
      .toMatchObject({ people: null, epsilon: null });
  });

  it('has a pure budget of exactly so many releases, and none above epsilon 100', () => {
    const pure = { question: 'count', delta: 0, epsilon: 0.5 } as const;
    expect(found({ ...pure, epochs: 30 }).rating.budget)
      .toEqual({ epsilon: 15, delta: 0, epochs: 30 });
    const { asked, rating } = found({ ...pure, epochs: 1000 });
    expect(rating.budget).toBeNull();
    expect(studyFileOf(asked, rating)).toBeNull();
  });

  it('says why there is no plan, and draws errors that shrink with people where there is', () => {
    const { rating } = found({ people: 100, columns: 10 });
    expect(rating.problem).toMatchObject({ remedy: expect.any(String) as string });
    const drawn = found({ hostile: 0 }).points.flatMap(({ errors }) => errors['mean'] ?? []);
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn).toEqual([...drawn].sort((one, two) => two - one));
  });
});

it('shows shares as per cent, with the unit', () => {
  expect(errorText(0.0123, 'shares of the cohort, over all bins'))
    .toBe('1.23\u00a0% of the people');
  expect(errorText(0.1, 'half the width of the range, over all groups'))
    .toBe('5\u00a0% of the people');
  expect(errorText(0.25, 'spreads')).toBe('0.25 spreads');
});
