import { InvalidParameterError } from '../../base/errors.js';
import { squareRoot } from '../../random/samplers/discrete-gaussian.js';
import type { Amount } from './amount.js';
import { costOfEvents } from './composition.js';
import type { ArmComposition, PrivacyCost } from './cost.js';
import { squareInSteps } from './grid.js';
import type { GaussianEvent, SymmetricGaussianEvent } from './events.js';

/** An event whose noise three servers draw in shares. */
export type SealedEvent = GaussianEvent | SymmetricGaussianEvent;

/** Each server's deviation is at least so many steps of the event's grid. */
const deviationLeast = 8n;
/** Entries of one event, at most. */
const dimensionMax = 2 ** 20;

/**
 * The cost of Gaussian events whose noise three servers draw in shares: that of the events, and one
 * unit of 2^-64 for each.
 *
 * Claim. An event of deviation sigma to which each of three servers adds a discrete Gaussian of
 * deviation s steps per entry (`serverDeviation`) costs at most sensitivity^2 / (2 sigma^2) + 2^-64
 * zCDP: to readers, and to whoever knows everything that one of the servers drew.
 * Neighbours. Those of the event.
 * Why. Whoever knows one server's draws is left with the sum of two discrete Gaussians of variance
 * s^2 in steps, and s^2 >= sigma^2 / (2 grid^2). Its cost is at most D^2 / (2 . 2 s^2) + tau d /
 * 4, D being the sensitivity in steps, d the dimension and tau = 10 exp(-pi^2 s^2) (Kairouz, Liu
 * and Steinke 2021, theorem 1, with two draws). The first term is at most sensitivity^2 / (2
 * sigma^2). With s >= 8 and d <= 2^20 the second is below 2^-800. Readers see that sum and a third
 * independent draw, which is post-processing of it.
 * Entries of a symmetric matrix above the diagonal have sigma^2 / 2 in place of sigma^2, and a
 * server's s is at least half of that. The terms D_ij^2 / (2 . 2 s_ij^2) of the entries i <= j add
 * up to at most the squared Frobenius norm over 2 sigma^2 (mechanisms/symmetric-gaussian).
 * A server that draws nothing takes away its own part: readers are still left with the two others,
 * so their cost is the same. Whoever reads everything of a second server is then left with one
 * draw, at up to twice the cost. The claim is for servers that follow the protocol.
 * @throws InvalidParameterError for an event that is not Gaussian, has a grid too coarse for the
 *   sum of two draws to be as good as one, or too many entries.
 */
export function sealedCost(
  events: readonly SealedEvent[], arms: ArmComposition,
): PrivacyCost {
  events.forEach(checkSealedEvent);
  const cost = costOfEvents(events, arms);
  return { ...cost, rho: (cost.rho + BigInt(events.length)) as Amount, gaussian: null };
}

/**
 * The deviation of what each server draws: the least whole number s of steps with 2 s^2 >= (sigma /
 * grid)^2. The sampler of a whole deviation is the fastest.
 * @param isOffDiagonal - for an entry of a symmetric matrix: with 2 s^2 >= (sigma / grid)^2 / 2.
 */
export function serverDeviation(
  { sigma, grid }: Pick<SealedEvent, 'sigma' | 'grid'>, isOffDiagonal = false,
): bigint {
  const { numerator, denominator } = squareInSteps(sigma, grid, isOffDiagonal ? 4n : 2n);
  const root = squareRoot(numerator / denominator);
  return root * root * denominator >= numerator ? root : root + 1n;
}

/** How many numbers are opened: of a symmetric matrix those with i <= j. */
export function openedEntries({ kind, dimension }: SealedEvent): number {
  return kind === 'gaussian' ? dimension : (dimension * (dimension + 1)) / 2;
}

/** @throws as `sealedCost` does. */
export function checkSealedEvent(event: SealedEvent): void {
  const { name, kind } = event;
  const refuse = (why: string): never => {
    throw new InvalidParameterError(`event ${name} cannot be drawn by three servers: ${why}`);
  };
  const isSymmetric = kind === 'symmetric-gaussian';
  if (kind !== 'gaussian' && !isSymmetric) {
    refuse('only Gaussian noise on a vector or a symmetric matrix is drawn in shares');
  }
  if (serverDeviation(event, isSymmetric) < deviationLeast) {
    refuse(`a server's deviation is below ${deviationLeast} steps of the grid; use a finer one`);
  }
  const entries = openedEntries(event);
  if (entries > dimensionMax) refuse(`it has ${entries} entries, more than ${dimensionMax}`);
}
