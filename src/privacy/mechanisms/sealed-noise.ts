import { assert } from '../../base/assert.js';
import { Released, Sealed } from '../../base/brands.js';
import { InvariantError } from '../../base/errors.js';
import { Coins } from '../../random/samplers/coins.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import type { NoiseSource } from '../../random/source.js';
import { checkEvents } from '../accounting/event-check.js';
import type { GaussianEvent } from '../accounting/events.js';
import { valueOfSteps } from '../accounting/grid.js';
import { checkSealedEvent, serverDeviation } from '../accounting/sealed-cost.js';
import { NoiseSupply } from './supply.js';

/** One server's shares of sums: component i, whose components of three servers add up to them. */
export interface SealedSums {
  /** Modulo 2^64, as pairs of 32-bit words, the low one first. */
  readonly own: Uint32Array;
}

/**
 * Adds up one list of each server, and gives the sum to all three (src/sealed/steps/open). Lists
 * are pairs of words, modulo 2^64.
 */
export type OpenNoised = (noised: Uint32Array) => Promise<Uint32Array>;

/** The only way out of `Sealed`. Made from a plan's events, each of which is opened once. */
export interface SealedMechanisms {
  /**
   * Adds this server's noise to its share, and opens the noised sum. All three servers do so at the
   * same time.
   * @param unit - what 1 of the sealed sums is worth in the event's units: the event's grid times a
   *   whole number.
   * @throws InvariantError for an unknown event, one that was opened before, or another length.
   */
  open(event: string, sums: Sealed<SealedSums>, unit: number): Promise<Released<Float64Array>>;
  /** Draws up to `limit` of the noise values that are not drawn yet; returns how many. */
  prepare(limit: number): number;
}

class SharedNoiseMechanisms implements SealedMechanisms {
  readonly #supplies: Map<string, { readonly event: GaussianEvent; readonly noise: NoiseSupply }>;

  constructor(
    events: readonly GaussianEvent[], noise: NoiseSource, private readonly openNoised: OpenNoised,
  ) {
    checkEvents(events);
    events.forEach(checkSealedEvent);
    const coins = new Coins(noise);
    this.#supplies = new Map(events.map((event) => [event.name, {
      event: Object.freeze({ ...event }),
      noise: new NoiseSupply(
        coins, gaussianSampler({ numerator: serverDeviation(event) ** 2n, denominator: 1n }),
        event.dimension,
      ),
    }]));
  }

  /**
   * Claim. What the three servers learn costs what `sealedCost` charges for the event.
   * Why. The sums are whole multiples of the event's grid, since `unit` is. Each server adds an
   * exact discrete Gaussian of `serverDeviation` steps to each entry of its component, and
   * only the sum of the three is opened. Sums beyond 2^63 steps wrap around, which is
   * post-processing. An event is removed before its noise is drawn, so no noise is drawn twice.
   * The share without noise is opened nowhere else (test/tidy/habits).
   */
  async open(
    name: string, sums: Sealed<SealedSums>, unit: number,
  ): Promise<Released<Float64Array>> {
    const supply = this.#supplies.get(name);
    if (supply === undefined) {
      throw new InvariantError(`event ${name} was not charged, or was opened before`);
    }
    this.#supplies.delete(name);
    const { event, noise } = supply;
    const factor = unit / event.grid;
    const { own } = Sealed.open(sums);
    assert(own.length === 2 * event.dimension, 'sealed sums have the length that was charged');
    assert(
      Number.isSafeInteger(factor) && factor >= 1,
      'the unit of sealed sums is the grid times a whole number',
    );
    const noised = new BigUint64Array(Uint32Array.from(own).buffer);
    for (let i = 0; i < noised.length; i++) {
      // The array keeps the lowest 64 bits.
      noised[i] = noised[i]! * BigInt(factor) + BigInt(noise.next());
    }
    const opened = Uint32Array.from(await this.openNoised(new Uint32Array(noised.buffer)));
    assert(opened.length === own.length, 'as many sums are opened as were asked for');
    return Released.fromMechanism(Float64Array.from(
      new BigInt64Array(opened.buffer), (steps) => valueOfSteps(steps, event.grid),
    ));
  }

  prepare(limit: number): number {
    let drawn = 0;
    for (const { noise } of this.#supplies.values()) {
      if (drawn < limit) drawn += noise.prepare(limit - drawn);
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
  events: readonly GaussianEvent[], noise: NoiseSource, openNoised: OpenNoised,
): SealedMechanisms {
  return new SharedNoiseMechanisms(events, noise, openNoised);
}

/** What is opened has this many times the deviation that is charged: three servers add noise. */
export const publishedOverCharged = Math.sqrt(1.5);
