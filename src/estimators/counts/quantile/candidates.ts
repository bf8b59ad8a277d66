import type { ScoreRuns } from '../../../random/samplers/choice.js';
import { rankRuns, type RankedPlaces } from '../tables/rank-scores.js';
import { shortAt, shortBelow, shortCount } from './decimals.js';
import { nextAbove } from './doubles.js';
import type { Place } from './edges.js';
import { ladderEdges, ladderStep, ladderTop, octaveSteps, shortestOnStep } from './ladder.js';

/** Equal steps that a public range is cut into, beside the steps of the ladder in it. */
const equalSteps = 2 ** 40;
/** Candidates of each kind, about. */
const ofEachKind = 2 ** 48;

/** Candidates of one kind in the order of their values. */
interface Kind {
  readonly places: number;
  /**
   * The place of a value: the last one that is not above it, -1 if there is none. It never falls as
   * the value grows.
   */
  readonly placeOf: (value: number) => number;
  readonly valueAt: (place: number) => number;
  readonly edgesAt: (place: number) => Place;
  /** The candidates are numbers, not steps: only a value equal to one is at its place. */
  readonly isAt?: (value: number, place: number) => boolean;
}

/**
 * The public candidates of a quantile: the ladder, and the numbers of three digits. With a range:
 * those in it, and equal steps of the range. Each kind has about as many candidates as the others,
 * since each of its places is listed many times. So a choice loses at most ln 2 to the other kind,
 * or ln 3 to two, which is 2 ln 3 / epsilon ranks. The ladder finds a median of 99 in a range up to
 * 10^9; equal steps one near zero in -1..1; and numbers of three digits one of ages or scores, of
 * which many people have the very same: among all steps of the ladder, a single one would be
 * outweighed by the gaps beside it in a small cohort.
 */
export class Candidates {
  readonly count: number;
  readonly kinds: number;
  /** Octaves of the ladder that there are, of both signs. */
  readonly octaves: number;
  readonly #kinds: readonly (Kind & { readonly times: number })[];

  constructor(range?: readonly [low: number, high: number]) {
    const kinds = range === undefined ? [ladder, shortNumbers] : kindsIn(range);
    this.#kinds = kinds.filter(({ places }) => places > 0)
      .map((kind) => ({ ...kind, times: Math.max(1, Math.round(ofEachKind / kind.places)) }));
    this.kinds = this.#kinds.length;
    this.count = this.#kinds.reduce((sum, { places, times }) => sum + places * times, 0);
    this.octaves = this.#kinds[0]!.places / octaveSteps;
  }

  /**
   * The scores of all candidates for the rank that is aimed at, in runs: see `rankRuns`.
   * @param sorted - ascending.
   */
  runs(
    sorted: Float64Array, aim: Pick<RankedPlaces, 'probability' | 'offset' | 'reach'>,
  ): ScoreRuns {
    const all = this.#kinds.map((kind) => rankRuns(sorted, { ...kind, ...aim }));
    return {
      lengths: joined(all.map(({ lengths }) => lengths)),
      scores: joined(all.map(({ scores }) => scores)),
    };
  }

  /** The value of a candidate. */
  valueAt(index: number): number {
    const { kind, place } = this.#find(index);
    return kind.valueAt(place);
  }

  /** Values between these edges are those at the place of a candidate. */
  edgesAt(index: number): Place {
    const { kind, place } = this.#find(index);
    return kind.edgesAt(place);
  }

  #find(index: number): { readonly kind: Kind; readonly place: number } {
    let rest = index;
    for (const kind of this.#kinds) {
      const { places, times } = kind;
      if (rest < places * times) return { kind, place: Math.floor(rest / times) };
      rest -= places * times;
    }
    throw new RangeError('there is no such candidate');
  }
}

const ladder: Kind = {
  places: 2 * ladderTop + 1,
  placeOf: (value) => ladderStep(value) + ladderTop,
  valueAt: (place) => shortestOnStep(place - ladderTop),
  edgesAt: (place) => ladderEdges(place - ladderTop),
};

const shortNumbers: Kind = {
  places: shortCount, placeOf: shortBelow, valueAt: shortAt,
  edgesAt: (place) => [shortAt(place), nextAbove(shortAt(place))],
  isAt: (value, place) => shortAt(place) === value,
};

function kindsIn([low, high]: readonly [number, number]): readonly Kind[] {
  const within = (value: number): number => Math.min(high, Math.max(low, value));
  const from = ladderStep(low);
  const lowest = shortAt(shortBelow(low)) < low ? shortBelow(low) + 1 : shortBelow(low);
  const highest = shortBelow(high);
  const width = (high - low) / equalSteps;
  const stepOf = (value: number): number =>
    Math.min(equalSteps - 1, Math.floor((within(value) - low) / width));
  return [{
    places: ladderStep(high) - from + 1,
    placeOf: (value) => ladderStep(within(value)) - from,
    valueAt: (place) => within(shortestOnStep(from + place)),
    edgesAt: (place) => ladderEdges(from + place),
  }, {
    places: equalSteps, placeOf: stepOf,
    edgesAt: (place) => [low + place * width, low + (place + 1) * width],
    valueAt: (place) => {
      const middle = within(low + (place + 0.5) * width);
      for (let digits = 1; digits < 17; digits++) {
        const rounded = Number(middle.toPrecision(digits));
        if (stepOf(rounded) === place) return within(rounded);
      }
      return middle;
    },
  }, {
    places: highest - lowest + 1,
    isAt: (value, place) => shortAt(lowest + place) === within(value),
    placeOf: (value) => shortBelow(within(value)) - lowest,
    valueAt: (place) => shortAt(lowest + place),
    edgesAt: (place) => [shortAt(lowest + place), nextAbove(shortAt(lowest + place))],
  }];
}

function joined(lists: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}
