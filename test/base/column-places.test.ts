import { expect, it } from 'vitest';
import { columnPlaces, withColumnNames } from '../../src/base/column-places.js';

it('gives columns their names where they have some', () => {
  const text = `no cap was found in ${columnPlaces([0, 2])}: give cap`;
  expect(withColumnNames(text, ['age', 'pay', 'rent'])).toBe('no cap was found in columns age, '
    + 'rent: give cap');
  expect(withColumnNames(`in ${columnPlaces([1])}.`, ['age', 'pay'])).toBe('in column pay.');
  expect(withColumnNames(text, ['age', 'pay'])).toBe(text);
  expect(withColumnNames('in column 1, as before', ['age'])).toBe('in column 1, as before');
});
