import type { RandomBits } from '../../src/random/bits.js';

/**
 * The samplers again, as plainly as possible and on whole numbers of any size only: no small-number
 * paths. They read bits in the same order, so on one tape both must give the same draws.
 */
function coin(bits: RandomBits, numerator: bigint, denominator: bigint): boolean {
  if (numerator >= denominator) return true;
  return numerator > 0n && bits.belowBig(denominator) < numerator;
}

function race(bits: RandomBits, numerator: bigint, denominator: bigint): boolean {
  let k = 1n;
  while (bits.belowBig(k) === 0n && coin(bits, numerator, denominator)) k += 1n;
  return k % 2n === 1n;
}

export function referenceExp(bits: RandomBits, numerator: bigint, denominator: bigint): boolean {
  let rest = numerator;
  while (rest > denominator) {
    if (!race(bits, 1n, 1n)) return false;
    rest -= denominator;
  }
  return race(bits, rest, denominator);
}

export function referenceLaplace(
  bits: RandomBits, scale: bigint,
): { magnitude: bigint; signed: () => bigint | null } {
  let offset = bits.belowBig(scale);
  while (!referenceExp(bits, offset, scale)) offset = bits.belowBig(scale);
  let units = 0n;
  while (race(bits, 1n, 1n)) units += 1n;
  const magnitude = offset + scale * units;
  const signed = (): bigint | null => {
    const negative = bits.bit();
    if (negative && magnitude === 0n) return null;
    return negative ? -magnitude : magnitude;
  };
  return { magnitude, signed };
}

/** Discrete Gaussian of whole-number deviation. */
export function referenceGaussian(bits: RandomBits, deviation: bigint): bigint {
  for (;;) {
    const { magnitude, signed } = referenceLaplace(bits, deviation);
    const gap = magnitude - deviation;
    if (!referenceExp(bits, gap * gap, 2n * deviation * deviation)) continue;
    const draw = signed();
    if (draw !== null) return draw;
  }
}
