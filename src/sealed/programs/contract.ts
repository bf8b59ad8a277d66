import type { Released, Sealed } from '../../base/brands.js';
import { InvalidParameterError } from '../../base/errors.js';
import type { Outcome } from '../../base/outcome.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import type { PrivacyCost } from '../../privacy/accounting/cost.js';
import type { SealedEvent } from '../../privacy/accounting/sealed-cost.js';
import type { SealedMechanisms } from '../../privacy/mechanisms/sealed-noise.js';
import type { ShareForm } from '../shares/form.js';
import type { RowShare } from '../shares/opening.js';
import type { SharedRow } from '../shares/share-plan.js';
import type { Party } from '../steps/party.js';
import type { Traffic } from '../steps/traffic.js';
import { peopleMax } from './rows.js';

/** The traffic between three servers, without the entries of contributors. */
export interface TrafficRange {
  /** When nobody lies, so that no removal is looked for. */
  readonly least: Traffic;
  /** When every round looks for liars in every way that it has. */
  readonly most: Traffic;
}

/** The inputs of a program at one server. The mechanisms open through this party. */
export interface ProgramRun {
  readonly party: Party;
  readonly mechanisms: SealedMechanisms;
  /** One for each contributor, in the order of the manifest. */
  readonly rows: readonly Sealed<RowShare>[];
}

/** Values beyond a grid count as at its end. All public. */
export interface BeyondGrid {
  /** Per column, in data units: the grid's ends. */
  readonly range: readonly (readonly [number, number])[];
  /** A number of people beyond one end is reported when it is above this. */
  readonly reportedFrom: number;
}

/**
 * A question over sealed rows: what contributors share, what is opened and what it costs. Public.
 *
 * Claim. The answer, and all that any one server sees, cost `cost` in zCDP, in its computational
 * form, as long as all three servers follow the protocol. It is a promise against anyone who reads
 * everything of one server, but none against two servers together, nor against a server that runs
 * changed code.
 * Neighbours. One contributor's row replaced by any other row, or by none where the question is
 * partial: whether somebody has a row is shared like the row itself.
 */
export interface SealedProgram {
  readonly form: ShareForm;
  readonly events: readonly SealedEvent[];
  readonly cost: PrivacyCost;
  /** Where values are moved into a grid, and their mean is taken. */
  readonly outside?: BeyondGrid;
  /** The values that a contributor shares of its row: `form.count` whole numbers below 2^bits. */
  readonly valuesOf: (row: SharedRow) => Uint32Array;
  /**
   * The traffic between the servers for one release, from public numbers. Entries are not in it.
   * @param people - 1 to 2^20. @throws InvalidParameterError for another number.
   */
  readonly traffic: (people: number) => TrafficRange;
  /** Runs at one server. What it does next follows from public and opened numbers alone. */
  readonly run: (run: ProgramRun) => Promise<Released<Outcome>>;
}

/** Deviations of noise that an opened sum has room for. */
const deviationsOfRoom = 64;

/**
 * Sums of an event's entries, of all people there can be, and their noise stay below 2^60 steps of
 * its grid: then numbers modulo p hold them with their signs.
 * An entry of one row is at most the event's sensitivity: that of a row replaced, which for squares
 * is sqrt(2) times the largest entry.
 * @throws InvalidParameterError for an event with larger ones.
 */
export function checkRoom({ name, kind, sensitivity, sigma, grid }: SealedEvent): void {
  const entry = kind === 'gaussian' ? sensitivity : sensitivity / Math.SQRT2;
  if ((peopleMax * entry + deviationsOfRoom * sigma) / grid < 2 ** 60) return;
  throw new InvalidParameterError(
    `event ${name} has sums that could be 2^60 steps of its noise or more: give fewer bits, or a `
      + 'smaller budget', { event: name },
  );
}

/** The part of a study's rho that events are calibrated for: the rest is `sealedCost`'s units. */
export function rhoForEvents({ target }: StudyFacts): number {
  return target.rho * (1 - 2 ** -30);
}
