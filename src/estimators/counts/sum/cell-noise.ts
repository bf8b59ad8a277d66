import { ln } from '../../../base/elementary.js';
import type { LaplaceEvent } from '../../../privacy/accounting/events.js';
import { normalCells } from '../../pooled/far-rows.js';
import type { CellNoise } from '../../pooled/far-side.js';
import type { CountNoise } from '../tables/count-noise.js';

/** The noise of the cells of a histogram of whole counts, alone and added up. */
export function cellNoise({ event, standardDeviation }: CountNoise): CellNoise {
  return event.kind === 'gaussian' ? normalCells(standardDeviation)
    : { sigma: standardDeviation, upper: laplaceUpper(event) };
}

/**
 * The noise of n cells together is above this with at most the given chance, below one half.
 *
 * Why. With q = exp(-grid / scale), the size of discrete noise is m steps or more with probability
 * 2 q^m / (1 + q), which is at least q^m and at most q^(m - 1/2). So it can be drawn together with
 * an exponential number E of steps, of this scale, such that it lies between E - 1 and E + 1/2. The
 * sign is drawn alike. So a sum of n discrete numbers is at most n steps above one of n numbers of
 * Laplace's law, whose tail is `tailOf`.
 */
function laplaceUpper({ scale, grid }: LaplaceEvent): CellNoise['upper'] {
  const known = new Map<string, number>();
  return (chance, cells) => {
    const key = `${cells} ${chance}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const upper = scale * quantileOfSum(chance, cells) + cells * grid;
    known.set(key, upper);
    return upper;
  };
}

/**
 * x with exp(-x) tail(x) = chance. The map x -> log(tail(x) / chance) grows, and slower than x, so
 * its iterates from 0 on rise to its fixed point.
 */
function quantileOfSum(chance: number, cells: number): number {
  const tail = tailOf(cells);
  let x = 0;
  for (let round = 0; round < 400; round++) {
    const value = tail.reduceRight((sum, factor) => sum * x + factor, 0);
    const next = ln(value / chance);
    if (!(next > x)) break;
    x = next;
  }
  return x;
}

/**
 * The polynomial p, lowest power first, with P(S > x) = exp(-x) p(x) for x >= 0, where S is the sum
 * of n Laplace numbers of scale 1.
 *
 * Why. The density of S is exp(-x) / ((n - 1)! 2^n) times the sum over j < n of
 * (n - 1 + j)! / ((n - 1 - j)! j! 2^j) x^(n - 1 - j), and the integral of exp(-t) t^k from x on is
 * exp(-x) times the sum over i <= k of k! / i! x^i.
 */
function tailOf(cells: number): readonly number[] {
  const tail = new Array<number>(cells).fill(0);
  const most = cells - 1;
  for (let j = 0; j <= most; j++) {
    const power = most - j;
    const factor = factorial(most + j)
      / (factorial(power) * factorial(j) * factorial(most) * 2 ** (j + cells));
    for (let i = 0; i <= power; i++) tail[i]! += factor * factorial(power) / factorial(i);
  }
  return tail;
}

function factorial(n: number): number {
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return product;
}
