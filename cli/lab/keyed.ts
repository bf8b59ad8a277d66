import { signing } from '#signing';
import { madeUpTexts, type RowSource } from '../../simulation/index.js';
import type { ColumnType } from '../../src/base/columns.js';
import { utf8 } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { Question } from '../../src/base/questions.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { seededRandom } from '../../src/random/work.js';
import type { Baselines, EpochPeople } from './baselines.js';

/**
 * Rides: minutes, a region out of a public list, and an app that is on no list. The studies of
 * these people answer by region, or by the apps that they find.
 */
const minutesMax = 240;
const minutesSpread = 30;
export const regions: readonly string[] = ['north', 'south', 'east', 'west'];
/** The number of apps of honest people: places in the texts of simulated people. */
const apps = madeUpTexts.length;
const ofPlaces = { minutes: 0, region: 1, app: 2 } as const;

export const keyedColumns: readonly string[] = Object.keys(ofPlaces);
export const keyedTypes: readonly ColumnType[] = [
  { type: 'number', low: 0, high: minutesMax }, { type: 'category', of: [...regions] },
  { type: 'text', bytes: 16 },
];
/** The unit of an attack's strength in each column. */
export const keyedSpread: readonly number[] = [minutesSpread, 1, 1];
/** Liars may send more rows than honest people. */
export const keyedRowsMax = 16;

/**
 * One ride of each person, drawn again in each epoch. Regions are alike, and the first apps have
 * most rides.
 */
export function keyedSource(_: number, seed: Uint8Array): RowSource {
  const random = seededRandom(signing.sha512(utf8(`lab rides ${seed.join()}`)).subarray(0, 32));
  return (contributor, epoch) => {
    const own = random.fork(`${epoch} ${contributor}`);
    const region = Math.floor(regions.length * own.uniform());
    const minutes = -(15 + 5 * region) * Math.log(1 - own.uniform());
    return Float64Array.of(
      Math.min(minutesMax, minutes), region, Math.floor(apps ** own.uniform()) - 1,
    );
  };
}

/** One study of the lab: its question, and the unit of its error. */
export interface KeyedStudy {
  /** Its name in `--estimators`. */
  readonly name: string;
  readonly title: string;
  readonly estimator: string;
  readonly parameters: (promise: number) => Readonly<Record<string, unknown>>;
  readonly of: 'people' | 'totals' | 'means' | 'apps';
  readonly usesMinutes: boolean;
  /** The promise is about each region alone, and there is no plain form. */
  readonly isRobust?: true;
  /** The distance of the answers from the truth, which the plan's promise is about. */
  error(far: readonly number[], cohort: number): number;
  /** The unit of `error`. */
  readonly unit: string;
}

const length = (far: readonly number[]): number => Math.hypot(...far);

export const keyedStudies: readonly KeyedStudy[] = [
  {
    name: 'count', title: 'People of each region', estimator: 'count', parameters: () => ({}),
    of: 'people', usesMinutes: false, unit: 'shares of everybody',
    error: (far, cohort) => length(far) / cohort,
  },
  {
    name: 'sum', title: 'Minutes of each region', estimator: 'sum',
    parameters: () => ({ cap: minutesMax }), of: 'totals', usesMinutes: true,
    unit: 'shares of everybody at the cap',
    error: (far, cohort) => length(far) / (minutesMax * cohort),
  },
  {
    name: 'mean', title: 'Mean minutes of each region', estimator: 'mean',
    parameters: () => ({ range: `0..${minutesMax}` }), of: 'means', usesMinutes: true,
    unit: 'half ranges', error: (far) => length(far) / (minutesMax / 2),
  },
  {
    name: 'robust-mean', title: 'Robust mean minutes of each region', estimator: 'robust-mean',
    parameters: (corruption) => ({ spread: minutesSpread, corruption }), of: 'means',
    usesMinutes: true, isRobust: true, unit: 'spreads, in the worst region',
    error: (far) => Math.max(...far) / minutesSpread,
  },
  {
    name: 'discovered', title: 'People of each app, for apps that nobody listed',
    estimator: 'count', parameters: () => ({}), of: 'apps', usesMinutes: false,
    unit: 'shares of everybody, over the apps that are shown',
    error: (far, cohort) => length(far) / cohort,
  },
];

export function keyedStudyOf(name: string): KeyedStudy | undefined {
  return keyedStudies.find((study) => study.name === name);
}

/** The question of such a study. */
export function keyedQuestion(
  { estimator, parameters, of, usesMinutes }: KeyedStudy, found: Estimator, promise: number,
): Question {
  return {
    name: 'answer', estimator, columns: usesMinutes ? ['minutes'] : [], where: [],
    reduce: usesMinutes ? 'mean' : 'one',
    part: 100,
    parameters: parseParameters(found.parameters, parameters(promise), { dimension: 1 }),
    by: of === 'apps' ? { columns: ['app'], groupsMax: 1, discover: { top: 40, prefilter: 2 } }
      : { columns: ['region'], groupsMax: 1 },
  };
}

/** The people of one epoch of such a study, with all rows that they sent. */
export class KeyedPeople implements EpochPeople {
  readonly #honest: Float64Array[] = [];
  readonly #hostile: Float64Array[] = [];

  constructor(private readonly study: KeyedStudy) {}

  add(_: Float64Array, isHostile: boolean, sent: Float64Array): void {
    (isHostile ? this.#hostile : this.#honest).push(sent);
  }

  /** Null if no honest person took part. */
  compute(): Baselines | null {
    const [honest, hostile] = [this.#honest, this.#hostile];
    if (honest.length === 0) return null;
    const truth = this.#byRegion(honest);
    return {
      truth: [], honest: honest.length, hostile: hostile.length, picture: null,
      baselines: this.#plain(truth),
      judge: ({ plan, cohort, outcome }) => {
        const promised = plan.expectedError(this.#worstShare(cohort)).total;
        return outcome.kind === 'refused' ? { error: null, promised }
          : { error: this.study.error(this.#farFrom(outcome), cohort), promised };
      },
    };
  }

  /**
   * The same without privacy, bounds or a limit on keys: each row counts as it was sent. Not for
   * apps, and a robust mean has no plain form.
   */
  #plain(truth: readonly number[]): Baselines['baselines'] {
    const { name, of, isRobust = false } = this.study;
    if (of === 'apps' || isRobust) return {};
    const estimate = this.#byRegion([...this.#honest, ...this.#hostile]);
    const people = this.#honest.length + this.#hostile.length;
    const error = this.study.error(distances(estimate, truth), people);
    return { [`plain ${name}`]: { estimate, error } };
  }

  /**
   * The share of liars that a promise is about: their share of everybody. A promise about each
   * region holds for the region in which they are the largest share.
   */
  #worstShare(cohort: number): number {
    if (this.study.isRobust !== true) return this.#hostile.length / cohort;
    const [honest, hostile] = [this.#honest, this.#hostile].map((sent) =>
      regions.map((_, region) => sent.filter((rows) => hasRegion(rows, region)).length));
    return Math.max(...hostile!.map((count, region) => count / (count + honest![region]!)));
  }

  /**
   * The distance of each number of an answer from the truth. Keys without an answer are left out.
   */
  #farFrom({ estimate, groups, answered }: Extract<Outcome, { kind: 'value' }>): readonly number[] {
    if (this.study.of !== 'apps') {
      return distances(estimate, this.#byRegion(this.#honest))
        .filter((_, region) => answered?.[region] !== false);
    }
    const people = new Map<string, number>();
    for (const [, , app] of this.#honest) {
      people.set(madeUpTexts[app!]!, (people.get(madeUpTexts[app!]!) ?? 0) + 1);
    }
    return estimate.map((count, i) => Math.abs(count - (people.get(groups![i]![0]!) ?? 0)));
  }

  #byRegion(sent: readonly Float64Array[]): readonly number[] {
    const counts = regions.map(() => 0);
    const totals = regions.map(() => 0);
    for (const rows of sent) {
      for (let from = 0; from < rows.length; from += keyedColumns.length) {
        counts[rows[from + ofPlaces.region]!]! += 1;
        totals[rows[from + ofPlaces.region]!]! += rows[from + ofPlaces.minutes]!;
      }
    }
    const { of } = this.study;
    return of === 'people' ? counts : of === 'totals' ? totals
      : totals.map((total, region) => total / Math.max(1, counts[region]!));
  }
}

function hasRegion(rows: Float64Array, region: number): boolean {
  for (let at: number = ofPlaces.region; at < rows.length; at += keyedColumns.length) {
    if (rows[at] === region) return true;
  }
  return false;
}

function distances(left: readonly number[], right: readonly number[]): readonly number[] {
  return left.map((value, i) => Math.abs(value - right[i]!));
}
