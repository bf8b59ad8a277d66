import { assert } from '../base/assert.js';
import { Sensitive } from '../base/brands.js';
import type { Outcome } from '../base/outcome.js';
import { SeriesReader, type EncryptedSeries, type SeriesState } from '../base/running-totals.js';
import { intervalAbout } from '../estimators/contract/outcomes.js';
import type { PlannedSeries } from '../estimators/contract/estimator.js';
import { deviations95 } from '../numerics/normal.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';
import { renamed } from '../privacy/mechanisms/renamed.js';
import { sealed } from '../privacy/mechanisms/sealed.js';
import { RunningInputs } from '../privacy/running/running-inputs.js';
import type { CutPeople } from './groups-cut.js';

/** Authenticated encryption with a secret key of the server. */
export interface Sealing {
  seal(question: string, plain: Uint8Array): Uint8Array;
  /** Null if it was not sealed with this key for the epoch just before. */
  open(question: string, text: Uint8Array): Uint8Array | null;
}

/** The state with which a release continues the series of its study. */
export interface SeriesBefore {
  readonly sealing: Sealing;
  readonly series: readonly EncryptedSeries[];
}

/**
 * One question's running total, at one release. The estimator draws its counts through
 * `mechanisms`: what gets the noise is not the counts of the epoch, but those of the newest epochs,
 * mixed. Then `answered` makes totals of what it released. They are computed from released numbers,
 * so they cost no privacy.
 */
export class RunningQuestion {
  readonly #inputs: RunningInputs;
  readonly #reader: SeriesReader;
  /** The noisy numbers of people who lost keys, added up over the releases of the series. */
  #cut: number;

  /**
   * @param before what the release of the epoch just before left. Null, or what no series of this
   *   plan left: a series begins.
   */
  constructor(private readonly plan: PlannedSeries, before: Uint8Array | null) {
    const { separation, entries } = plan;
    const found = before === null ? null : decoded(before, plan);
    this.#inputs = new RunningInputs(separation, entries, found?.recent);
    this.#reader = new SeriesReader(separation, entries, found?.state);
    this.#cut = found?.cut ?? 0;
  }

  mechanisms(inner: Mechanisms): Mechanisms {
    return {
      ...renamed(inner, (event) => event),
      gaussian: (event, value) => {
        assert(event === this.plan.event, 'a running total has one Gaussian event');
        const released = inner.gaussian(event, this.#inputs.next(value));
        this.#inputs.released(value);
        return released;
      },
    };
  }

  /** How many people lost keys in all releases of the series, up to the one that was answered. */
  get cutPeople(): CutPeople {
    return { noisy: this.#cut, releases: this.#reader.state.position };
  }

  /**
   * The totals up to this release, in the form of the estimator's answer.
   * @param people - who lost keys in this release alone.
   */
  answered(outcome: Outcome, people?: CutPeople): Outcome {
    if (outcome.kind === 'refused') return outcome;
    this.#cut += people?.noisy ?? 0;
    const { position } = this.#reader.state;
    const { totals, deviation } = this.#reader.take(outcome.estimate);
    const noise = this.plan.sigma * deviation;
    const estimate = Array.from(totals);
    return {
      ...outcome,
      estimate,
      uncertainty: { kind: 'gaussian', standardDeviation: estimate.map(() => noise) },
      interval95: intervalAbout(estimate, () => deviations95 * noise),
      running: { position, released: outcome.estimate },
    };
  }

  /** The state for the next release, sealed. */
  sealed(seal: (plain: Uint8Array) => Uint8Array): Uint8Array {
    const { state } = this.#reader;
    return sealed(this.#inputs.recent.map((recent) => encoded(state, this.#cut, recent)), seal);
  }
}

/**
 * As doubles: the position, the people who lost keys, the totals, then what the newest releases say
 * of their epochs, then the exact values of these epochs, newest first. The number of these follows
 * from the position.
 */
function encoded(
  { position, total, recent }: SeriesState, cut: number, exact: readonly Float64Array[],
): Uint8Array {
  const lists = [Float64Array.of(position, cut), total, ...recent, ...exact];
  const numbers = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const list of lists) {
    numbers.set(list, end);
    end += list.length;
  }
  return new Uint8Array(numbers.buffer);
}

function decoded(
  bytes: Uint8Array, { separation, entries }: PlannedSeries,
): {
  readonly state: SeriesState; readonly cut: number;
  readonly recent: Sensitive<readonly Float64Array[]>;
} | null {
  if (bytes.length < 16 || bytes.length % 8 !== 0) return null;
  // A copy, whose place in memory is a multiple of 8.
  const numbers = new Float64Array(Uint8Array.from(bytes).buffer);
  const position = numbers[0]!;
  const kept = Math.min(position, separation - 1);
  if (!Number.isInteger(position) || numbers.length !== 2 + entries * (1 + 2 * kept)) return null;
  const list = (from: number, count: number): Float64Array[] =>
    Array.from({ length: count }, (_, i) =>
      numbers.slice(2 + (from + i) * entries, 2 + (from + i + 1) * entries));
  return {
    state: { position, total: list(0, 1)[0]!, recent: list(1, kept) },
    cut: numbers[1]!,
    recent: Sensitive.of(list(1 + kept, kept)),
  };
}
