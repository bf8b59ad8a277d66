import { InvalidParameterError } from '../../base/errors.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import type { ClipBall } from '../../privacy/stages/clip.js';
import type { ColumnGrid } from '../shares/column-grid.js';
import { andAll, bits } from '../steps/adder.js';
import { dot } from '../steps/multiply.js';
import type { Party } from '../steps/party.js';
import { onesPlane } from '../steps/planes.js';
import {
  constant, differenceOf, maskedBy, xorOf, type Bits, type Numbers,
} from '../steps/shares.js';
import type { CentreDesign } from './centre.js';
import type { Layout } from './rows.js';

/** The budget's rule and the grid must fit a sealed mean. @throws InvalidParameterError. */
export function checkMeanFacts({ dimension, target }: StudyFacts, grid: ColumnGrid): void {
  if (target.isPure === true) {
    throw new InvalidParameterError(
      'a sealed study has Gaussian noise, and the budget\'s rule is pure: leave the rule out',
    );
  }
  if (grid.lows.length !== dimension) {
    throw new InvalidParameterError(
      `the grid has ${grid.lows.length} columns, and the study ${dimension}`,
    );
  }
}

/**
 * The ball whose rows count, in whole steps of the columns.
 * @param radius - in spreads. @param stepsMax - the largest radius in steps.
 * @throws InvalidParameterError for a radius below one step, or above `stepsMax`.
 */
export function ballOf(radius: number, { spreadBits }: ColumnGrid, stepsMax: number): ClipBall {
  const grid = 2 ** -spreadBits;
  const steps = Math.floor(radius / grid);
  if (steps >= 1 && steps <= stepsMax) return { grid, steps, radius: steps * grid };
  throw new InvalidParameterError(
    `a radius of ${radius} spreads is outside ${grid} to ${stepsMax * grid}: give another radius, `
      + 'or other bits', { radius },
  );
}

/** The people within the ball. */
export interface Inside {
  readonly alive: Bits;
  /** Squared distances from the centre, in steps. */
  readonly squares: Numbers;
}

/** The bit that says that a row is outside. @param bits - of an entry of a row. */
export function outsideBit(bits: number): number {
  // An entry is below 2^(bits + 1), and there are at most 2^6; the radius is at most 2^24 steps.
  return Math.max(2 * bits + 8, 48) + 1;
}

/**
 * The plane of those who have a row, and one within the ball.
 * @param design.form - with an entry past the columns, where it is shared who has a row.
 */
export async function insideBall(
  party: Party, { about, present }: { readonly about: Numbers; readonly present: Bits },
  { steps }: ClipBall, { grid: { bits: width, lows }, form }: Pick<CentreDesign, 'grid' | 'form'>,
  { people, words, padded }: Layout,
): Promise<Inside> {
  const squares = await dot(party, about, about, {
    count: padded,
    runs: Array.from(lows, (_, j) =>
      ({ left: j * padded, right: j * padded, sum: 0, isOneSum: false, length: padded })),
  });
  const room = differenceOf(constant(party.server, padded, steps ** 2), squares);
  const sign = outsideBit(width);
  const [outside] = await bits(party, room, { from: sign, end: sign + 1 });
  const left = form.count === lows.length ? maskedBy(outside!, onesPlane(people))
    : (await andAll(party, [[outside!, present]], words))[0]!;
  return { squares, alive: xorOf(left, present) };
}
