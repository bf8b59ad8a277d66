import { assert } from '../../base/assert.js';
import type { Released, Sealed } from '../../base/brands.js';
import { modPrime, signedModPrime } from '../../base/prime.js';
import { openSealed, releasedByMechanism } from '../../base/wrappers.js';
import { InvariantError } from '../../base/errors.js';
import { Coins } from '../../random/samplers/coins.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import type { NoiseSource } from '../../random/source.js';
import { checkEvents } from '../accounting/event-check.js';
import { valueOfSteps } from '../accounting/grid.js';
import {
  checkSealedEvent, openedEntries, serverDeviation, type SealedEvent,
} from '../accounting/sealed-cost.js';
import type { Draw } from './draw.js';
import { NoiseSupply } from './supply.js';

/** One server's shares of sums: component i, whose components of three servers add up to them. */
export interface SealedSums {
  /** Modulo 2^61 - 1, as pairs of 32-bit words, the low one first. */
  readonly own: Uint32Array;
}

/**
 * Adds up one list of each server, and gives the sum to all three (src/sealed/steps/open). Lists
 * are pairs of words, modulo 2^61 - 1.
 */
export type OpenNoised = (noised: Uint32Array) => Promise<Uint32Array>;

/** The only way out of `Sealed`. Made from a plan's events, each of which is opened once. */
export interface SealedMechanisms {
  /**
   * Adds this server's noise to its share, and opens the noised sum. All three servers do so at the
   * same time.
   * @param sums - one for each entry; of a symmetric matrix those with i <= j, row by row.
   * @returns the entries; of a symmetric matrix all of them, row by row.
   * @param unit - what 1 of the sealed sums is worth in the event's units: the event's grid times a
   *   whole number.
   * @throws InvariantError for an unknown event, one that was opened before, or another length.
   */
  open(event: string, sums: Sealed<SealedSums>, unit: number): Promise<Released<Float64Array>>;
  /** Draws up to `limit` of the noise values that are not drawn yet; returns how many. */
  prepare(limit: number): number;
}

/** The noise of one event at one server, drawn once. */
interface EventNoise {
  readonly event: SealedEvent;
  readonly supplies: readonly NoiseSupply[];
  /** The draw of each opened number. */
  readonly draws: readonly Draw[];
}

function noiseOf(coins: Coins, event: SealedEvent): EventNoise {
  const supply = (isOffDiagonal: boolean, ahead: number): NoiseSupply => new NoiseSupply(
    coins,
    gaussianSampler({ numerator: serverDeviation(event, isOffDiagonal) ** 2n, denominator: 1n }),
    ahead,
  );
  const { kind, dimension } = event;
  const entries = openedEntries(event);
  const frozen = Object.freeze({ ...event });
  const own = supply(false, dimension);
  if (kind === 'gaussian') {
    return { event: frozen, supplies: [own], draws: new Array<Draw>(entries).fill(own.next) };
  }
  const off = supply(true, entries - dimension);
  const draws = Array.from({ length: dimension }, (_, i) =>
    Array.from({ length: dimension - i }, (__, k) => (k === 0 ? own.next : off.next)));
  return { event: frozen, supplies: [own, off], draws: draws.flat() };
}

/** All entries of a symmetric matrix from those with i <= j. */
function mirrored(upper: Float64Array, dimension: number): Float64Array {
  const matrix = new Float64Array(dimension ** 2);
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      matrix[i * dimension + j] = matrix[j * dimension + i] = upper[at++]!;
    }
  }
  return matrix;
}

/**
 * A server's share of sums with its own noise, in steps of the event's grid, modulo 2^61 - 1.
 * @param own - pairs of words. @param factor - steps of 1 of the sums.
 */
export function noisedShare(
  own: Uint32Array, factor: number, draws: readonly Draw[],
): Uint32Array {
  const noised = new BigUint64Array(Uint32Array.from(own).buffer);
  for (let i = 0; i < noised.length; i++) {
    noised[i] = modPrime(noised[i]! * BigInt(factor) + BigInt(draws[i]!()));
  }
  return new Uint32Array(noised.buffer);
}

/** The released values of opened sums: all entries, also of a matrix, in the event's units. */
export function openedValues({ kind, dimension, grid }: SealedEvent, opened: Uint32Array):
Float64Array {
  const values = Float64Array.from(
    new BigUint64Array(Uint32Array.from(opened).buffer),
    (steps) => valueOfSteps(signedModPrime(steps), grid),
  );
  return kind === 'gaussian' ? values : mirrored(values, dimension);
}

class SharedNoiseMechanisms implements SealedMechanisms {
  readonly #noise: Map<string, EventNoise>;

  constructor(
    events: readonly SealedEvent[], noise: NoiseSource, private readonly openNoised: OpenNoised,
  ) {
    checkEvents(events);
    events.forEach(checkSealedEvent);
    const coins = new Coins(noise);
    this.#noise = new Map(events.map((event) => [event.name, noiseOf(coins, event)]));
  }

  /**
   * Claim. What the three servers learn costs what `sealedCost` charges for the event.
   * Why. The sums are whole multiples of the event's grid, since `unit` is. Each server adds an
   * exact discrete Gaussian of `serverDeviation` steps to each entry of its component, and
   * only the sum of the three is opened. Sums of 2^60 steps and more wrap around, which
   * is post-processing. An event is removed before its noise is drawn, so no noise is drawn twice.
   * The share without noise is opened nowhere else (test/tidy/habits).
   */
  async open(
    name: string, sums: Sealed<SealedSums>, unit: number,
  ): Promise<Released<Float64Array>> {
    const noise = this.#noise.get(name);
    if (noise === undefined) {
      throw new InvariantError(`event ${name} was not charged, or was opened before`);
    }
    this.#noise.delete(name);
    const { event, draws } = noise;
    const factor = unit / event.grid;
    const { own } = openSealed(sums);
    assert(own.length === 2 * draws.length, 'sealed sums have the length that was charged');
    assert(
      Number.isSafeInteger(factor) && factor >= 1,
      'the unit of sealed sums is the grid times a whole number',
    );
    const opened = await this.openNoised(noisedShare(own, factor, draws));
    assert(opened.length === own.length, 'as many sums are opened as were asked for');
    return releasedByMechanism(openedValues(event, opened));
  }

  prepare(limit: number): number {
    let drawn = 0;
    for (const { supplies } of this.#noise.values()) {
      for (const supply of supplies) {
        if (drawn < limit) drawn += supply.prepare(limit - drawn);
      }
    }
    return drawn;
  }
}

/**
 * The way from sealed sums to released ones at one of three servers.
 * @param events - Gaussian ones of one plan, charged by `sealedCost`.
 * @param openNoised - opens the sum of the servers' noised shares.
 * @throws InvalidParameterError when an event cannot be drawn in shares.
 */
export function createSealedMechanisms(
  events: readonly SealedEvent[], noise: NoiseSource, openNoised: OpenNoised,
): SealedMechanisms {
  return new SharedNoiseMechanisms(events, noise, openNoised);
}

/** Opened values have this many times the deviation that is charged: three servers add noise. */
export const publishedOverCharged = Math.sqrt(1.5);

/** The event with the deviation of what is opened: for intervals, not for costs. */
export function published<E extends SealedEvent>(event: E): E {
  return { ...event, sigma: publishedOverCharged * event.sigma };
}
