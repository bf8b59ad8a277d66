/**
 * The orthogonal projector onto the span of independent integer rows B, row-major: B^T (B B^T)^-1
 * B, in whole numbers up to one division per entry, so that every entry is the nearest double or
 * its neighbour. For released labels only: post-processing, whatever it costs. O(r^2 (r + d) + r
 * d^2) products of long integers.
 */
export function projectorOf(
  basis: readonly (readonly bigint[])[], dimension: number,
): Float64Array {
  const projector = new Float64Array(dimension * dimension);
  const rank = basis.length;
  if (rank === 0) return projector;
  const augmented = basis.map((row) => [
    ...basis.map((other) => row.reduce((sum, entry, j) => sum + entry * other[j]!, 0n)),
    ...row,
  ]);
  const determinant = solve(augmented, rank);
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      let sum = 0n;
      for (let k = 0; k < rank; k++) sum += basis[k]![i]! * augmented[k]![rank + j]!;
      const entry = ratio(sum, determinant);
      projector[i * dimension + j] = entry;
      projector[j * dimension + i] = entry;
    }
  }
  return projector;
}

/**
 * Turns [G | B] into [g I | g G^-1 B] in place, g the determinant; G is positive definite, so no
 * pivot is zero.
 */
function solve(matrix: bigint[][], rank: number): bigint {
  let before = 1n;
  for (let pivot = 0; pivot < rank; pivot++) {
    const own = matrix[pivot]!;
    const lead = own[pivot]!;
    matrix.forEach((row, i) => {
      if (i === pivot) return;
      const factor = row[pivot]!;
      matrix[i] = row.map((entry, j) => (lead * entry - factor * own[j]!) / before);
    });
    before = lead;
  }
  return before;
}

/**
 * A quotient of long integers as a double, to within one unit in its last place. The divisor is
 * positive.
 */
export function ratio(numerator: bigint, denominator: bigint): number {
  const size = numerator < 0n ? -numerator : numerator;
  const shift = bits(denominator) - bits(size) + 64;
  const quotient = shift >= 0
    ? (size << BigInt(shift)) / denominator
    : size / (denominator << BigInt(-shift));
  const value = Number(quotient) * 2 ** -Math.max(-1000, Math.min(1000, shift));
  return numerator < 0n ? -value : value;
}

function bits(value: bigint): number {
  return value.toString(16).length * 4;
}
