import { assert } from '../../../base/assert.js';

/**
 * Columns that the estimators of this folder take: beyond, a grid of candidates is too coarse or
 * too large.
 */
export const columnsMaximum = 3;

/** Directions looked along, by the number of columns. */
const counts = [1, 64, 200] as const;

/**
 * Public unit vectors spread over half of the sphere, row-major: with their opposites every
 * direction is within 1.4 degrees of one of them in the plane, and within about 9 in space. d = 1:
 * the axis; 2: equal angles; 3: a spiral of equal areas.
 */
export function halfSphere(dimension: number): Float64Array {
  assert(
    dimension >= 1 && dimension <= columnsMaximum, 'there are directions for one to three columns',
  );
  const count = counts[dimension - 1]!;
  const vectors = new Float64Array(count * dimension);
  const goldenAngle = Math.PI * (3 - Math.sqrt(5));
  for (let k = 0; k < count; k++) {
    if (dimension === 1) vectors[k] = 1;
    else if (dimension === 2) {
      vectors.set([Math.cos((Math.PI * k) / count), Math.sin((Math.PI * k) / count)], 2 * k);
    } else {
      const height = (k + 0.5) / count;
      const radius = Math.sqrt(1 - height * height);
      vectors.set(
        [radius * Math.cos(k * goldenAngle), radius * Math.sin(k * goldenAngle), height], 3 * k,
      );
    }
  }
  return vectors;
}

/** The place of each point along one direction; the sum runs over columns in order. */
export function placesAlong(
  points: Float64Array, dimension: number, direction: Float64Array,
): Float64Array {
  const places = new Float64Array(points.length / dimension);
  for (let i = 0; i < places.length; i++) {
    let sum = 0;
    for (let j = 0; j < dimension; j++) sum += points[i * dimension + j]! * direction[j]!;
    places[i] = sum;
  }
  return places;
}
