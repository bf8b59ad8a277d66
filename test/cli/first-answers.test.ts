import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('first');

/** Incomes, and whether somebody owns a home, which 300 of 1,000 people do. */
const rows = join(folder, 'rows.csv');
writeFileSync(rows, ['income,owns,region', ...Array.from({ length: 1_000 }, (_, i) =>
  `${20_000 + 40 * i},${i % 10 < 3 ? 1 : 0},${i % 2 === 0 ? 'north' : 'south'}`)].join('\n'));

const privacy = ['--epsilon', '1', '--delta', '1e-6'];
const seeded = { environment: { KEELSON_INSECURE_SEED: 'first answers', NODE_NO_WARNINGS: '1' } };
const estimate = (...words: readonly string[]) =>
  keelson(['estimate', ...words, ...privacy], seeded);

describe('a share of the people', () => {
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ['auto', ['auto', rows, '--question', 'share']], ['share', ['share', rows]],
    ['share with --where', ['share', rows, '--where', 'owns=1', '--cohort', '1000',
      '--participation', 'secret']],
  ];
  it.each(ways)('asks %s from which value on people count', async (_, words) => {
    const { status, stdout, stderr } = await estimate(...words, '--columns', 'income');
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('--set threshold=VALUE');
    expect(stderr).toContain('--type income=boolean');
  });

  it.each(ways)('has a threshold in %s', async (_, words) => {
    const given = await estimate(...words, '--columns', 'income', '--set', 'threshold=40000');
    expect(given.status, given.stderr).toBe(0);
    expect(given.stdout).toContain('at least 40000');
  });

  it.each(ways)('needs none in %s for a column of yes and no', async (_, words) => {
    const given =
      await estimate(...words.map((word) => word.replace('owns=1', 'income>=0')),
        '--columns', 'owns', '--type', 'owns=boolean');
    expect(given.status, given.stderr).toBe(0);
    expect(given.stdout).toContain('owns');
  });
});

describe('a parameter that is missing', () => {
  const asked = ['--columns', 'income'];
  const secret = [...asked, '--cohort', '1000', '--participation', 'secret'];
  it.each([
    ['distribution', ['distribution', rows, ...asked], '--set range=low..high'],
    ['histogram', ['histogram', rows, ...asked], '--set edges=first,second,...'],
    ['sum', ['sum', rows, ...asked], '--set cap=most'],
    ['sum with --where', ['sum', rows, ...secret, '--where', 'owns=1'], '--set cap=most'],
    ['sum with cap auto', ['sum', rows, ...asked, '--set', 'cap=auto'], '--set cap-max=most'],
    ['prime-heavy', ['prime-heavy', rows, ...asked], '--set spread is missing'],
    ['a mean', ['mean', rows, ...asked, '--set', 'range=3'], '--set range is "3": give low..high'],
  ])('is named as it is typed: %s', async (_, words, flag) => {
    const { status, stderr } = await estimate(...words);
    expect(status).toBe(2);
    expect(stderr).toContain(flag);
    expect(stderr).not.toContain('parameters.');
    expect(stderr).not.toContain('1 of them');
  });

  it('is named as it is typed where no estimator is chosen', async () => {
    const { status, stdout } =
      await estimate('auto', rows, '--question', 'distribution', ...asked);
    expect(status).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('(--set range=low..high)');
    expect(stdout).toContain('--set corruption=0');
  });
});

describe('a question in place of an estimator', () => {
  const income = ['--columns', 'income'];
  const json = async (...words: readonly string[]): Promise<unknown> => {
    const { status, stdout, stderr } = await estimate(...words, ...income, '--json');
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  it.each([
    ['total', 'sum', ['--set', 'cap=70000']], ['percentile', 'quantile', []],
  ])('%s asks auto, which says what it chose', async (word, estimator, set) => {
    const answer = await json(word, rows, ...set);
    expect(answer).toMatchObject({ estimator, outcome: 'value' });
    expect(answer).toEqual(await json('auto', rows, '--question', word, ...set));
    const plan = ['plan', word, ...income, '--cohort', '1000', '--participation', 'secret'];
    const { status, stdout } = await keelson([...plan, ...privacy, ...set], seeded);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^chosen: ${estimator}, for the question ${word}\n`));
  });

  it('adds up the rows of a person for a total', async () => {
    const { stdout, stderr } = await estimate('total', rows, ...income, '--contributor', 'region',
      '--set', 'cap=1e9');
    expect(stdout, stderr).toContain('rows of each contributor become their sum');
  });

  describe('with --where', () => {
    const secret = ['--cohort', '1000', '--participation', 'secret', '--where', 'income<39999'];
    it.each([
      ['total', 'sum', ['--set', 'cap=70000']], ['percentile', 'quantile', []],
      ['mean', 'mean', ['--set', 'range=0..70000']],
      ['count', 'count', ['--set', 'threshold=30000']],
      ['histogram', 'histogram', ['--set', 'edges=20000,30000,40000']],
    ])('%s answers as its estimator does', async (question, estimator, set) => {
      const answers = async (...words: readonly string[]): Promise<string> => {
        const { status, stdout, stderr } =
          await estimate(...words, rows, ...income, ...secret, ...set);
        expect(status, stderr).toBe(0);
        return stdout.replace(/^chosen: .*\n/, '');
      };
      const named = await answers(estimator);
      const asked = await answers('auto', '--question', question);
      // A mean may be that of another estimator, which liars move less.
      if (question !== 'mean') expect(asked).toBe(named);
      if (question === 'total' || question === 'percentile') {
        expect(await answers(question)).toBe(named);
      }
    });

    it('asks for what is missing', async () => {
      const { status, stdout } = await estimate('total', rows, ...income, ...secret);
      expect(status).toBe(1);
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /^refused: too little is known for the question total \(sum: .*--set cap=most/);
      const json = await estimate('total', rows, ...income, ...secret, '--json');
      expect(JSON.parse(json.stdout)).toMatchObject({ estimator: 'auto', outcome: 'infeasible' });
    });

    it('states no more than the epsilon that was asked for', async () => {
      const { stdout, stderr } = await estimate('distribution', rows, ...income, ...secret,
        '--set', 'range=0..70000', '--json');
      const { privacy } = JSON.parse(stdout) as { readonly privacy: { readonly epsilon: number } };
      expect(privacy.epsilon, stderr).toBeLessThanOrEqual(1);
      expect(privacy.epsilon).toBeGreaterThan(0.999);
    });

    it('has a page with a title that says what was asked', async () => {
      const page = join(folder, 'total.html');
      const { status, stderr } = await estimate('total', rows, ...income, ...secret, '--set',
        'cap=70000', '--html', page);
      expect(status, stderr).toBe(0);
      expect(readFileSync(page, 'utf8')).toContain('<title>sum of income</title>');
    });
  });
});

describe('the columns of a plan', () => {
  const people = ['--cohort', '1000', '--participation', 'secret', ...privacy, '--json'];
  const planOf = async (...words: readonly string[]): Promise<unknown> => {
    const { status, stdout, stderr } = await keelson(['plan', ...words, ...people], seeded);
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const mean = ['mean', '--set', 'spread=1', '--columns'];

  it('are names or a number', async () => {
    expect(await planOf(...mean, 'income,owns')).toEqual(await planOf(...mean, '2'));
    expect(await planOf(...mean, 'income')).toEqual(await planOf(...mean, '1'));
  });

  it.each([['count', ['count']], ['auto', ['auto', '--question', 'count']]])(
    'are none for a count of everybody by %s', async (_, words) => {
      expect(await planOf(...words)).toMatchObject({ estimator: 'count', outcome: 'plan' });
    });

  it('are asked for where the answer is about some', async () => {
    for (const words of [['median'], ['count', '--set', 'threshold=1']]) {
      const { status, stderr } = await keelson(['plan', ...words, ...people], seeded);
      expect(status).toBe(2);
      expect(stderr).toContain('--columns is missing: give the names of the columns');
    }
  });
});

describe('errors of a plan', () => {
  const people = ['--cohort', '1000', '--participation', 'secret', ...privacy];
  it.each([
    ['people', ['count'], 1.36],
    ['people, over all bins', ['histogram', '--set', 'edges=1,2,3'], 5.6],
    ['units of the column', ['mean', '--set', 'spread=40'], 1.94],
    ['units of the column', ['mean', '--set', 'range=0..100'], 1.59],
    ['units of the column', ['sum', '--set', 'cap=100'], 149],
    ['percentage points', ['share'], 0.141],
    ['% of the people, by which the ranks of the answers are off', ['median'], 2.03],
  ])('are in %s: %s', async (unit, words, error) => {
    const { stdout, stderr } =
      await keelson(['plan', ...words, '--columns', 'income', ...people], seeded);
    expect(stdout, stderr).toContain(`errors are in ${unit}\n`);
    const shown = Number(/nobody hostile +([\d.]+)/.exec(stdout)?.[1]);
    expect(shown / error).toBeCloseTo(1, 2);
  });

  it('are in spreads where columns have several', async () => {
    const { stdout } = await keelson(
      ['plan', 'mean', '--columns', 'a,b', '--set', 'spread=1,40', ...people], seeded);
    expect(stdout).toContain('errors are in spreads');
  });

  it('are in people and in the unit of a column for a study', async () => {
    const study = join(folder, 'hours.yaml');
    writeFileSync(study, `study: hours
columns: { hours: { type: number, low: -2, high: 24, unit: hours }, other: number }
cohort: 1000
epoch: { every: 1d }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
questions:
  people: { estimator: count }
  mean: { estimator: mean, columns: [hours], parameters: { range: -2..24 } }
  sum: { estimator: sum, columns: [hours], parameters: { range: -2..24 } }
  plain: { estimator: mean, columns: [other], parameters: { spread: 3 } }
`);
    const { stdout, stderr } = await keelson(['plan', study], seeded);
    for (const [question, unit] of [
      ['people', 'people'], ['mean', 'hours'], ['sum', 'hours'], ['plain', 'units of the column'],
    ]) expect(stdout, stderr).toMatch(new RegExp(`^${question} +${unit}$`, 'm'));
    const json = await keelson(['plan', study, '--json'], seeded);
    const { studies: [planned] } = JSON.parse(json.stdout) as { readonly studies: readonly {
      readonly questions: Readonly<Record<string, {
        readonly noise: readonly number[]; readonly expectedError: {
          readonly clean: { readonly total: number };
        };
      }>>;
    }[] };
    const shown = (name: string): number =>
      Number(new RegExp(`^${name} +\\S+ +25 % +(\\S+)`, 'm').exec(stdout)?.[1]);
    const { sum, people } = planned!.questions;
    expect(shown('sum') / sum!.noise[0]!).toBeCloseTo(1, 3);
    expect(shown('people')).toBeCloseTo(1000 * people!.expectedError.clean.total, 4);
  });

  it('are in the same unit where auto compares them', async () => {
    const { stdout } = await keelson(['plan', 'auto', '--columns', 'income', '--set', 'spread=40',
      ...people], seeded);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /robust-mean was .* 8\.88 units of the column\. .*9\.71 units of the column/);
  });
});

describe('what is said beside an answer', () => {
  it('counts one column', async () => {
    const { stdout, stderr } = await keelson(['plan', 'mean', '--columns', 'income', '--cohort',
      '100', '--participation', 'secret', ...privacy], seeded);
    expect(stdout, stderr).toContain('with 100 contributors, 1 column and rho');
  });

  it('says once that the number of rows is public', async () => {
    const { stdout } = await estimate('count', rows);
    expect(stdout).toContain('note: no --cohort was given');
    expect(stdout.match(/public/g)).toHaveLength(1);
  });
});
