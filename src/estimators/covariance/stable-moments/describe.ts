import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { listOf, numberOf } from '../../contract/values.js';

/**
 * The tensors of third and fourth central moments, row by row, then skewness and excess kurtosis
 * along each column or direction.
 */
export const describeStableMoments: Describe = (values, columns) => {
  const names = columns.map(({ name }) => name);
  const products = (order: number): readonly (readonly string[])[] => (order === 0 ? [[]]
    : products(order - 1).flatMap((before) => names.map((name) => [...before, name])));
  const momentsOf = (order: number): readonly NumberInfo[] => products(order).map((of) =>
    ({ kind: 'moment', columns: of, ...(isOfSquares(of) && { least: 0 }) }));
  const along = values['directions'] === undefined ? names.map((column) => ({ column }))
    : listOf(values, 'directions').map((_, i) => ({ direction: i + 1 }));
  const hasFourth = numberOf(values, 'order') === 4;
  return [
    ...momentsOf(3), ...(hasFourth ? momentsOf(4) : []),
    ...along.map((of): NumberInfo => ({ kind: 'skewness', ...of })),
    // A fourth power has at least the square of the mean of its square.
    ...(hasFourth
      ? along.map((of): NumberInfo => ({ kind: 'excess-kurtosis', ...of, least: -2 })) : []),
  ];
};

/** True if a product of columns is a square, and so are its means at least 0. */
function isOfSquares(columns: readonly string[]): boolean {
  return columns.every((name) => columns.filter((other) => other === name).length % 2 === 0);
}
