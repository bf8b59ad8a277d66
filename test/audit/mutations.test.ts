import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutations, testsOf } from '../../scripts/mutations/list.js';
import { root } from '../support/sources.js';

it('finds the place of every mutation once, and tests of its estimator', () => {
  const lost = mutations.filter(({ file, find, put }) =>
    put === find || readFileSync(`${root}${file}`, 'utf8').split(find).length !== 2);
  expect(lost.map(({ estimator, breaks }) => `${estimator}, ${breaks}`)).toEqual([]);
  const paths = mutations.flatMap(({ estimator }) => testsOf[estimator] ?? [`no ${estimator}`]);
  expect(paths.filter((path) => !existsSync(`${root}test/estimators/${path}`)
    && !existsSync(`${root}test/estimators/${path}.test.ts`))).toEqual([]);
});
