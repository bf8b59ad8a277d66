import { assert } from '../../base/assert.js';
import { Coins } from '../../random/samplers/coins.js';
import type { NoiseSource } from '../../random/source.js';
import {
  add, divide, fraction, multiply, subtract, unit, zero, type Interval,
} from './interval.js';
import type { Law, Outcome } from './law.js';

const usualMinimum = fraction(1n, 1n << 90n);
/** More branches than this at one place are too many to walk. */
const branchesMax = 4096;

interface Branch {
  readonly value: unknown;
  readonly probability: Interval;
}

interface Fork {
  readonly branches: readonly Branch[];
  /** Mass that no branch has. */
  readonly cut: Interval;
}

/** A place in the tree: its branches, and the one that the current path takes. */
interface Place extends Fork {
  at: number;
  /** Probability of the path up to this place. */
  readonly before: Interval;
  /** The same with the branch that is taken; null until it is worked out. */
  after: Interval | null;
}

/** The path is not followed any further. */
class PathCut extends Error {}

/**
 * The law of a sampler, by walking the tree of its random choices.
 *
 * The sampler is the shipped code. It takes its randomness from `Coins`, and here every method of
 * `Coins` that reads a random bit is a branch of the tree. The sampler runs once for each leaf.
 *
 * Claim: the probability of every outcome is within its interval, widened upwards by `cut`.
 * Why:
 * - `bit`, `below` and `belowBig` are uniform by their contract. test/audit/exact/walk.test.ts
 *   checks the contract by listing the words that they read.
 * - A coin of `Coins` is itself a tree of these, walked apart by running the shipped coin. Its two
 *   outcomes are the branches, so equal futures are walked once.
 * - `until` repeats independent attempts. Its law is that of one attempt, given that the attempt
 *   has a result. The tree of one attempt is walked apart, and its outcomes are the branches.
 * - A path whose probability falls below `pathMinimum` is cut, and its mass is counted in `cut`.
 * A branch is chosen by replay: the same choices lead to the same place, because the sampler has no
 * other source of randomness.
 *
 * @param keyOf - a text that tells results apart.
 * @param pathMinimum - paths below this probability are cut; default 2^-90.
 * Cost: one run of the sampler for each leaf.
 */
export function walk<T>(
  sampler: (coins: WalkedCoins) => T, keyOf: (value: T) => string = String,
  pathMinimum: Interval = usualMinimum,
): Law<T> {
  return new Walker(pathMinimum, new Map()).law(sampler, keyOf);
}

/** Coins whose tosses are branches. Besides the coins, a draw from a known law is a branch too. */
export interface WalkedCoins extends Coins {
  outcomeOf<T>(law: Law<T>): T;
}

const noNoise: NoiseSource = {
  kind: 'noise', secure: false, fill: () => assert(false, 'a walk reads no random words'),
};

class Walker extends Coins implements WalkedCoins {
  readonly #minimum: Interval;
  /** The laws of coins, shared by all walks of one sampler. */
  readonly #coins: Map<string, Law<boolean>>;
  readonly #path: Place[] = [];
  #depth = 0;
  #probability = unit;

  constructor(minimum: Interval, coins: Map<string, Law<boolean>>) {
    super(noNoise);
    this.#minimum = minimum;
    this.#coins = coins;
  }

  law<T>(sampler: (coins: WalkedCoins) => T, keyOf: (value: T) => string): Law<T> {
    const outcomes = new Map<string, Outcome<T>>();
    let cut = zero;
    do {
      [this.#depth, this.#probability] = [0, unit];
      try {
        const value = sampler(this);
        assert(this.#depth === this.#path.length, 'a replayed path has the same places');
        const key = keyOf(value);
        const found = outcomes.get(key)?.probability ?? zero;
        outcomes.set(key, { value, probability: add(found, this.#probability) });
      } catch (error) {
        if (!(error instanceof PathCut)) throw error;
        this.#path.length = this.#depth;
        cut = add(cut, this.#probability);
      }
    } while (this.#next());
    return { outcomes, cut: add(cut, this.#unlisted) };
  }

  #unlisted = zero;

  /** Turns to the next path. False when all were walked. */
  #next(): boolean {
    for (let last = this.#path.at(-1); last !== undefined; last = this.#path.at(-1)) {
      last.at += 1;
      last.after = null;
      if (last.at < last.branches.length) return true;
      this.#path.pop();
    }
    return false;
  }

  #choose<T>(forkOf: () => Fork): T {
    let place = this.#path[this.#depth];
    if (place === undefined) {
      place = { ...forkOf(), at: 0, before: this.#probability, after: null };
      this.#path.push(place);
      if (place.cut.high > 0n) {
        this.#unlisted = add(this.#unlisted, multiply(this.#probability, place.cut));
      }
    }
    const { value, probability } = place.branches[place.at]!;
    this.#depth += 1;
    place.after ??= multiply(place.before, probability);
    this.#probability = place.after;
    if (this.#probability.high < this.#minimum.low) throw new PathCut();
    return value as T;
  }

  #uniform<T>(bound: number, valueOf: (index: number) => T): T {
    assert(bound <= branchesMax, 'a walk has few branches at each place');
    return this.#choose(() => ({
      branches: Array.from({ length: bound }, (_, index) =>
        ({ value: valueOf(index), probability: fraction(1n, BigInt(bound)) })),
      cut: zero,
    }));
  }

  #coin(name: string, tossed: (coins: Coins) => boolean): boolean {
    return this.#choose(() => {
      let law = this.#coins.get(name);
      if (law === undefined) {
        law = new Walker(this.#minimum, this.#coins).law(tossed, String);
        this.#coins.set(name, law);
      }
      return { branches: [...law.outcomes.values()], cut: law.cut };
    });
  }

  outcomeOf<T>(law: Law<T>): T {
    return this.#choose(() => ({ branches: [...law.outcomes.values()], cut: law.cut }));
  }

  override bit(): boolean {
    return this.#uniform(2, (index) => index === 1);
  }

  override below(bound: number): number {
    return bound === 1 ? 0 : this.#uniform(bound, Number);
  }

  override belowBig(bound: bigint): bigint {
    return bound === 1n ? 0n : this.#uniform(Number(bound), BigInt);
  }

  override bernoulli(numerator: number, denominator: number): boolean {
    return this.bernoulliBig(BigInt(numerator), BigInt(denominator));
  }

  /** P(uniform below d < n) = n / d: walked branch by branch it would be the same, d times over. */
  override bernoulliBig(numerator: bigint, denominator: bigint): boolean {
    if (numerator >= denominator) return true;
    if (numerator <= 0n) return false;
    return this.#choose(() => ({
      branches: [
        { value: true, probability: fraction(numerator, denominator) },
        { value: false, probability: fraction(denominator - numerator, denominator) },
      ],
      cut: zero,
    }));
  }

  override bernoulliInverseE(): boolean {
    return this.#coin('1/e', (coins) => shipped.bernoulliInverseE.call(coins));
  }

  override bernoulliExp(numerator: number, denominator: number): boolean {
    return this.#coin(`exp ${numerator}/${denominator}`, (coins) =>
      shipped.bernoulliExp.call(coins, numerator, denominator));
  }

  override bernoulliExpBig(numerator: bigint, denominator: bigint): boolean {
    return this.#coin(`big ${numerator}/${denominator}`, (coins) =>
      shipped.bernoulliExpBig.call(coins, numerator, denominator));
  }

  override until<T>(attempt: () => T | undefined): T {
    return this.#choose(() => this.#lawUntil(attempt));
  }

  /** The attempt is run by the walker of this path, which for that time walks the attempt alone. */
  #lawUntil<T>(attempt: () => T | undefined): Fork {
    const [path, depth, probability, unlisted] =
      [this.#path.splice(0), this.#depth, this.#probability, this.#unlisted];
    this.#unlisted = zero;
    const { outcomes, cut } = this.law(attempt, String);
    this.#path.push(...path);
    [this.#depth, this.#probability, this.#unlisted] = [depth, probability, unlisted];
    const results = [...outcomes.values()].filter(({ value }) => value !== undefined);
    let whole = zero;
    for (const result of results) whole = add(whole, result.probability);
    assert(whole.low > 0n, 'an attempt may have a result');
    const most = { low: whole.low, high: whole.high + cut.high };
    return {
      branches: results.map((result) =>
        ({ value: result.value, probability: divide(result.probability, most) })),
      cut: { low: 0n, high: divide(cut, whole).high },
    };
  }
}

/** The coins as they are shipped. They ask for their bits by `this`, which is a walker here. */
const shipped = Coins.prototype;

/** 1 - the sum of the listed probabilities: a check that nothing was lost. */
export function missingMass(law: Law): Interval {
  let sum = zero;
  for (const { probability } of law.outcomes.values()) sum = add(sum, probability);
  return subtract(unit, sum);
}
