import { analyticGaussianDelta } from '../privacy/accounting/analytic-gaussian.js';
import type {
  Claim, KnownNoise, LossBlock, LossPool, LossRequest, NeighbourPair, Side,
} from './contract.js';
import { deltaBound, levelFor, type Level, type Losses } from './losses/delta-bounds.js';
import type { Shifts } from './losses/shifts.js';

/** The claim and the pairs to audit with known noise, and how many trials to spend. */
export interface KnownNoiseOptions {
  readonly claim: Claim;
  /** The most promising ones first. */
  readonly pairs: readonly NeighbourPair[];
  readonly pool: LossPool;
  /** Trials in all. Each runs two releases. */
  readonly trials: number;
  /** Probability that a statement of the result is wrong. */
  readonly failure: number;
  /** As in `AuditOptions`: asked once, with the trials that were run, before the counted ones. */
  readonly affordable?: (done: number) => number;
}

/** Levels of epsilon, as multiples of the claim. All their bounds hold at once. */
const multiples = [
  ...Array.from({ length: 50 }, (_, i) => (i + 1) / 40), 1.5, 2, 3, 4, 6, 10,
];
/** Shares of the trials: one for each of the first pairs, and pilots on the best of them. */
const shares = { first: 0.2, pilot: 0.25 } as const;
/** With few trials, more of them search for a pair: on a useless pair, trials show nothing. */
const fewTrials = { below: 100, first: 0.4 } as const;
const pilotMin = 8;
const pilotMax = 1500;
const pairsMax = 60;
const pilotPairs = 3;
/** Parts of the largest multiple of the shifts. The smaller ones are for larger deltas. */
const spreads = [0, 1 / 3, 2 / 3, 1];
/** The most trials of a request, and the requests of a long run. */
const request = { most: 100, parts: 16 } as const;
/** A pure claim is about any delta; outputs this rare are looked for. */
const rareDelta = 1e-6;

interface Pilot {
  readonly pair: NeighbourPair;
  readonly side: Side;
  readonly rho: number;
  readonly multiples: readonly number[];
  readonly shifts: Shifts;
  readonly losses: Losses;
}

/**
 * Lower bounds on delta at many epsilons, for one pair of neighbours, from exact privacy losses.
 *
 * Claim: with probability at least 1 - `failure`, the release of the chosen pair is not
 * (epsilon, delta')-DP for any point (epsilon, delta) of the curve and any delta' < delta. So the
 * bound is not above the true epsilon at the claim's delta.
 * Why: pairs, sides, proposals, levels and caps are chosen from trials that are not counted. The
 * counted ones are fresh and their number is fixed before the first of them. Each level has one
 * bound (`deltaBound`), with its part of the failure probability. All that a release draws is
 * audited, as if it were published: the claim covers this, and the outcome is a function of it.
 * Assumption: noise has the law that its event states. A sampler that draws other noise is not
 * noticed here; `audit` counts outputs and notices it.
 * Why few trials suffice: outputs that one release in a million gives are drawn on purpose, and
 * count with the ratio of their probabilities.
 * @returns null if the law of a draw is not known (masks).
 * Cost: two releases for each trial.
 */
export async function auditKnownNoise(asked: KnownNoiseOptions): Promise<KnownNoise | null> {
  const { claim, pool, trials, failure, affordable } = asked;
  const failureEach = failure / multiples.length;
  const ranked = await rankedPairs(asked);
  if (ranked === null) return null;
  let done = ranked.tried;
  const pilots: Pilot[] = [];
  const isFew = trials < fewTrials.below;
  const sides: readonly Side[] = isFew ? ['left'] : ['left', 'right'];
  const few = isFew ? ranked.found.slice(0, 1) : bestOfCrowds(ranked.found);
  const perPilot = Math.max(pilotMin, Math.min(
    pilotMax, Math.floor((shares.pilot * trials) / (few.length * sides.length)),
  ));
  for (const { pair, rho, shifts } of few) {
    for (const side of sides) {
      // Seen from the other side, all shifts have the other sign.
      const [most, proposal] = [multipleFor(rho, claim.delta), side === 'left' ? 1 : -1];
      const chosen = most > 0 ? spreads.map((part) => part * most * proposal) : [0];
      const losses = await run(
        pool, { pair, side, multiples: chosen, shifts, label: 'pilot' }, perPilot,
      );
      done += perPilot;
      pilots.push({ pair, side, rho, multiples: chosen, shifts, losses });
    }
  }
  const left = Math.max(pilotMin, Math.floor(affordable?.(done) ?? trials - done));
  const planned = pilots.map((pilot) => {
    const levels = multiples.map((multiple) =>
      levelFor(pilot.losses, multiple * claim.epsilon, left, failureEach));
    return { pilot, levels: levels.map(({ level }) => level), reach: reachOf(levels, claim.delta) };
  });
  const best = planned.reduce((one, other) => (other.reach > one.reach ? other : one));
  const { pair, side, multiples: chosen, shifts, rho } = best.pilot;
  const losses = await run(pool, { pair, side, multiples: chosen, shifts, label: 'losses' }, left);
  const curve = curveOf(losses, best.levels, failureEach);
  const proved = curve.filter(({ delta }) => isBeyond(delta, claim.delta));
  return {
    bound: Math.max(0, ...proved.map(({ epsilon }) => epsilon)),
    curve, trials: done + left, trialsCounted: left, pair: pair.name, side, rho,
    moved: ranked.found.some((each) => each.rho > 0),
    pairsTried: ranked.tried,
  };
}

function isBeyond(delta: number, claimed: number): boolean {
  return delta > claimed;
}

/** The largest epsilon that should be proved; of equal ones, the larger delta decides. */
function reachOf(
  levels: readonly { readonly level: Level; readonly expected: number }[], delta: number,
): number {
  const proved = levels.filter(({ expected }) => isBeyond(expected, delta));
  const [last] = proved.slice(-1);
  return (last?.level.epsilon ?? 0) + 1e-6 * Math.min(1, last?.expected ?? levels[0]!.expected);
}

/** Every bound, and none below that of a larger epsilon: delta falls with epsilon. */
function curveOf(
  losses: Losses, levels: readonly Level[], failure: number,
): KnownNoise['curve'] {
  let least = 0;
  return levels.toReversed().map((level) => {
    least = Math.max(least, deltaBound(losses, level, failure));
    return { epsilon: level.epsilon, delta: least };
  }).reverse();
}

interface RankedPair {
  readonly pair: NeighbourPair;
  readonly rho: number;
  readonly shifts: Shifts;
}

/**
 * The costliest pair of each crowd. Costs alone do not decide: an event may cost most on rows where
 * its likely outputs show nothing.
 */
function bestOfCrowds(ranked: readonly RankedPair[]): readonly RankedPair[] {
  const crowds = new Set<string | undefined>();
  const best = ranked.filter(({ pair: { crowd } }) => !crowds.has(crowd) && crowds.add(crowd));
  return best.slice(0, pilotPairs);
}

/** One trial of each pair, without a proposal: the cost of its contents ranks it. */
async function rankedPairs(
  { pairs, pool, trials }: KnownNoiseOptions,
): Promise<{ readonly found: readonly RankedPair[]; readonly tried: number } | null> {
  const share = trials < fewTrials.below ? fewTrials.first : shares.first;
  const most = Math.max(1, Math.min(pairsMax, Math.floor(share * trials)));
  const chosen = pairs.slice(0, most);
  const blocks: (LossBlock | null)[] = [];
  for (let at = 0; at < chosen.length; at += pool.parallelism) {
    blocks.push(...await Promise.all(chosen.slice(at, at + pool.parallelism).map((pair) =>
      pool.runLosses({
        pair, side: 'left', multiples: [0], shifts: new Map(), trials: 1,
        label: `costs/${pair.name}`,
      }))));
  }
  const found = chosen.flatMap((pair, i) => {
    const block = blocks[i];
    return block === null || block === undefined
      ? [] : [{ pair, rho: block.rho, shifts: block.shifts }];
  });
  if (found.length < chosen.length) return null;
  return { found: found.sort((one, other) => other.rho - one.rho), tried: chosen.length };
}

/**
 * The multiple of the shifts that moves the losses of Gaussian noise to where delta is decided.
 * With shifts of length m, in deviations, rho is m^2 / 2. The loss is normal with mean and half its
 * variance m^2 / 2. A multiple s moves its mean by s m^2.
 */
function multipleFor(rho: number, delta: number): number {
  if (!(rho > 0)) return 0;
  const length = Math.sqrt(2 * rho);
  let [low, high] = [0, 60 * length + length ** 2];
  const wanted = Math.max(delta, rareDelta);
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (analyticGaussianDelta(middle, 1, length) > wanted) low = middle;
    else high = middle;
  }
  return Math.max(0, low / length ** 2 - 0.5);
}

/** Runs trials in chunks, as many at once as the pool allows. */
async function run(
  pool: LossPool, asked: Omit<LossRequest, 'trials'>, trials: number,
): Promise<Losses> {
  const all = new Float64Array(2 * trials);
  const size = Math.min(request.most, Math.ceil(trials / request.parts));
  const label = `${asked.label}/${asked.pair.name}/${asked.side}`;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < trials) {
      const start = next;
      next += size;
      const own = Math.min(size, trials - start);
      const block =
        await pool.runLosses({ ...asked, trials: own, label: `${label}/${start}` });
      all.set(block!.values, 2 * start);
    }
  };
  await Promise.all(Array.from({ length: pool.parallelism }, work));
  return all;
}

/** The smallest epsilon that is proved at a delta, by a curve; 0 if none is. */
export function provedAt(curve: KnownNoise['curve'], delta: number): number {
  return Math.max(0, ...curve.filter((point) => isBeyond(point.delta, delta))
    .map(({ epsilon }) => epsilon));
}
