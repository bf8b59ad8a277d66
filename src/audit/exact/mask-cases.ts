import { assert } from '../../base/assert.js';
import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { AffineMaskEvent, WishartMaskEvent } from '../../privacy/accounting/events.js';
import { epsilonOfSpent } from '../../privacy/accounting/spent.js';
import { ofAmount, type CaseResult } from './claims.js';
import {
  add, divide, expOf, fraction, multiply, negative, ofDouble, rootOf, subtract, surelyAbove,
  toNumber, unit, zero, type Interval,
} from './interval.js';
import { hockeyStick, normalised, renyi, type Law, type Outcome } from './law.js';

/**
 * Masks of one number, compared with their charge by quadrature.
 *
 * Claim: of a fault the true divergence is above the charge.
 * Why: the root of what is published is in some cell of a line. Its law over the cells is a
 * function of what is published, so its divergences are at most those of the mask. The probability
 * of a cell is an interval (`massOf`), and what is beyond all cells is counted (`tailOf`).
 * The law is that of real numbers. The shipped draw uses doubles, and rounds them to 24 bits: see
 * mechanisms/masking for the gap that this leaves.
 */
export interface MaskCase {
  readonly name: string;
  readonly event: WishartMaskEvent | AffineMaskEvent;
  /** Largest logarithm of the ratio of the numbers of neighbours. Default: that of the event. */
  readonly logDistance?: number;
}

/** A density of a logarithm that is concave, up to a factor. It is 0 below 0, or nowhere. */
type Density = (x: Interval) => Interval;

/** Cells on either side of 0, and how many deviations from the middle of the law they end. */
const cells = 400;
const reach = 10;
const targetDelta = 1e-3;

function square(x: Interval): Interval {
  return multiply(x, x);
}

/** The root of a mean of squares of `samples` normal numbers: samples is even, and 2 or more. */
function wishartDensity({ samples }: WishartMaskEvent, logVariance: number): Density {
  const variance = expOf(ofDouble(logVariance));
  const rate = divide(fraction(BigInt(samples), 2n), variance);
  return (x) => {
    let value = expOf(negative(multiply(rate, square(x))));
    for (let i = 1; i < samples; i++) value = multiply(value, x);
    return value;
  };
}

/** A normal number around s, with the deviation h s: s^2 is the content. */
function affineDensity({ spread }: AffineMaskEvent, logVariance: number): Density {
  const root = expOf(ofDouble(logVariance / 2));
  const deviation = multiply(ofDouble(spread), root);
  const rate = divide(fraction(1n, 2n), square(deviation));
  return (x) => expOf(negative(multiply(rate, square(subtract(x, root)))));
}

/**
 * The integral of the density from x_1 to x_2, of its values at x_0 to x_3 in equal steps.
 *
 * Why: between the two the logarithm is above its chord, so the mean is at least the logarithmic
 * mean of the two values, which is at least the geometric one. It is below the chord through x_0
 * and x_1, and below that through x_2 and x_3, so the density is below an exponential function. Of
 * that the mean is at most the arithmetic mean of its ends. Where a value is 0 it tells nothing.
 */
function massOf([f0, f1, f2, f3]: readonly Interval[], step: Interval): Interval {
  const bounds = [[f0!, f1!], [f3!, f2!]].flatMap(([beyond, near]) =>
    (beyond!.low <= 0n ? [] : [add(near!, divide(square(near!), beyond!)).high / 2n + 1n]));
  assert(bounds.length > 0, 'a density is above 0 in or beside each cell');
  const high = bounds.reduce((least, bound) => (bound < least ? bound : least));
  const low = rootOf(multiply(f1!, f2!)).low;
  return multiply(step, { low: low < high ? low : high, high });
}

/**
 * Beyond the last of two values, which fall: the density is below the exponential function through
 * them.
 */
function tailOf(before: Interval, last: Interval, step: Interval): Interval {
  const { high } = divide(multiply(step, last), subtract(unit, divide(last, before)));
  return { low: 0n, high };
}

/** The law of the absolute value, in cells. @param end - of the cells: a rational. */
function lawInCells(density: Density, isSigned: boolean, end: Interval): Law {
  const step = divide(end, fraction(BigInt(cells)));
  const valuesOf = (sign: bigint): readonly Interval[] =>
    Array.from({ length: cells + 3 }, (_, i) =>
      density(multiply(step, fraction(sign * BigInt(i - 1)))));
  const sides = isSigned ? [valuesOf(1n), valuesOf(-1n)] : [[zero, ...valuesOf(1n).slice(1)]];
  const weights = new Map<string, Outcome<number>>();
  for (let cell = 0; cell < cells; cell++) {
    const probability = sides.reduce((sum, values) =>
      add(sum, massOf(values.slice(cell, cell + 4), step)), zero);
    weights.set(String(cell), { value: cell, probability });
  }
  const cut = sides.reduce((sum, values) =>
    add(sum, tailOf(values[cells]!, values[cells + 1]!, step)), zero);
  return normalised(weights, cut);
}

/** The law of a mask of one number, which is given by its logarithm. */
function lawOfMask(event: MaskCase['event'], logVariance: number, widest: number): Law {
  const largest = Math.exp(widest / 2);
  return event.kind === 'wishart-mask'
    ? lawInCells(wishartDensity(event, logVariance), false, ofDouble(
      largest * (1 + reach / Math.sqrt(2 * event.samples)),
    ))
    : lawInCells(affineDensity(event, logVariance), true, ofDouble(
      largest * (1 + reach * event.spread),
    ));
}

/** Compares all pairs of numbers that are as far apart as the event says, or half as far. */
export function checkMask({ name, event, logDistance = event.logDistance }: MaskCase): CaseResult {
  const { order } = event;
  const amount = costOfEvents([event], { disjoint: [] }).renyi!.amount;
  const charged = ofAmount(amount);
  const epsilon = epsilonOfSpent(
    { rule: 'renyi', order }, amount, 0n as typeof amount, targetDelta,
  );
  const contents = [-1, -0.5, 0, 0.5, 1].map((part) => part * logDistance);
  const laws = contents.map((each) => lawOfMask(event, each, logDistance));
  const faults: string[] = [];
  let [pairs, share, tail] = [0, 0, 0];
  const compare = (i: number, j: number): void => {
    const found = renyi(laws[i]!, laws[j]!, order);
    share = Math.max(share, toNumber(divide(found.divergence, charged)));
    tail = Math.max(tail, toNumber(laws[i]!.cut));
    const pair = `e^${contents[i]} and e^${contents[j]}`;
    if (surelyAbove(found.divergence, charged)) {
      faults.push(`${pair}: the divergence of order ${order} is ${toNumber(found.divergence)}, and `
        + `${toNumber(charged)} was charged`);
    }
    // Half of delta is for the conversion.
    const stick = hockeyStick(laws[i]!, laws[j]!, ofDouble(epsilon));
    if (surelyAbove(stick, ofDouble(targetDelta / 2))) {
      faults.push(`${pair}: at epsilon ${epsilon} delta is ${toNumber(stick)}, and `
        + `${targetDelta / 2} was stated`);
    }
  };
  for (let i = 0; i < contents.length; i++) {
    for (let j = i + 1; j < contents.length; j++) {
      if (contents[j]! - contents[i]! > logDistance) continue;
      pairs += 1;
      compare(i, j);
      compare(j, i);
    }
  }
  return { name, contents: contents.length, pairs, share, tail, faults };
}

const place = { name: 'mask', cohort: 'rows', dimension: 1 } as const;

/** Both masks, near and far. */
export const maskCases: readonly MaskCase[] = [
  {
    name: 'wishart-mask, 2 draws of a number',
    event: { ...place, kind: 'wishart-mask', samples: 2, logDistance: 0.25, order: 3 },
  },
  {
    name: 'wishart-mask, 8 draws of a number',
    event: { ...place, kind: 'wishart-mask', samples: 8, logDistance: 0.125, order: 6 },
  },
  {
    name: 'affine-mask of a number, spread 1/2',
    event: { ...place, kind: 'affine-mask', spread: 0.5, logDistance: 0.25, order: 3 },
  },
  {
    name: 'affine-mask of a number, spread 1/4',
    event: { ...place, kind: 'affine-mask', spread: 0.25, logDistance: 0.0625, order: 6 },
  },
];
