import { forms as complianceForms, samples } from '../compliance/samples.js';
import type { ComplianceSample } from '../../src/kit/sample.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import type { DataSource } from '../support/data.js';

/** How one number of an answer moves with the columns, each x becoming a x + b. */
export interface Term {
  /** The powers of the factors |a|, one for each column. */
  readonly powers: readonly number[];
  /** The powers of the signs of a. They are those of the factors where there are none. */
  readonly signs: readonly number[];
  /** The column whose b is added; null for none. */
  readonly place: number | null;
  /** Tells apart numbers that move alike. Columns in it are permuted with the columns. */
  readonly of?: string;
}

/** Why a relation is not asked of a form. */
export type Reason = string;

export const relationNames = [
  'all columns times a power of two', 'all columns times a power of ten',
  'the first column times a power of two', 'shifted by thousands and millions',
  'shifted by up to 1e15', 'rows in another order', 'columns in another order', 'negated',
  'every row twice', 'zeros with a sign', 'a constant column', 'a constant far away',
  'columns of 0 and 1',
  'planned for a tenth', 'planned for ten times as many', 'the exact answer at epsilon 100',
] as const;
export type RelationName = (typeof relationNames)[number];

/** One estimator at one choice of parameters. */
export interface Form {
  readonly estimator: string;
  /** What is special about it; empty for the sample of test/compliance. */
  readonly label: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly dimension: number;
  readonly cohort: number;
  /** How far apart rows are, in data units. */
  readonly spread: number;
  readonly row: (data: DataSource) => Float64Array;
  /** The law of the answer, one term for each number. */
  readonly terms: readonly Term[];
  /** What the answer should be for these rows. */
  readonly exact: (rows: readonly Float64Array[]) => readonly number[];
  /** Its releases take long: few powers of the unit are tried. */
  readonly isHeavy: boolean;
  /** The relations that are not asked, and why this is right. */
  readonly exempt: Partial<Readonly<Record<RelationName, Reason>>>;
}

const unit = (dimension: number, ...columns: readonly number[]): number[] => {
  const powers = new Array<number>(dimension).fill(0);
  for (const column of columns) powers[column]! += 1;
  return powers;
};
const moving = (dimension: number, ...columns: readonly number[]): Term => {
  const powers = unit(dimension, ...columns);
  return { powers, signs: powers, place: null };
};
const placed = (dimension: number, column: number): Term =>
  ({ ...moving(dimension, column), place: column });
const fixed = (dimension: number, count: number, of = ''): Term[] =>
  Array.from({ length: count }, (_, i) => ({ ...moving(dimension), of: `${of}${i}` }));
const columnsOf = (dimension: number): number[] => Array.from({ length: dimension }, (_, j) => j);
const pairsOf = (dimension: number): number[][] =>
  columnsOf(dimension).flatMap((i) => columnsOf(dimension).map((j) => [i, j]));
const locations = (d: number): Term[] => columnsOf(d).map((j) => placed(d, j));
const covariances = (d: number): Term[] => pairsOf(d).map((pair) => moving(d, ...pair));

const tensor = (d: number, order: number): Term[] => Array.from({ length: d ** order }, (_, at) =>
  moving(d, ...Array.from({ length: order }, (__, k) =>
    Math.floor(at / d ** (order - 1 - k)) % d)));
/** Skewness or excess kurtosis along each column: only signs are left. */
const alongColumns = (d: number, order: number): Term[] => columnsOf(d).map((j) =>
  ({ powers: unit(d), signs: unit(d, ...new Array<number>(order).fill(j)), place: null }));

export function meansOf(rows: readonly Float64Array[]): number[] {
  return columnsOf(rows[0]!.length).map((j) =>
    rows.reduce((sum, row) => sum + row[j]! / rows.length, 0));
}

export function covariancesOf(rows: readonly Float64Array[]): number[] {
  const means = meansOf(rows);
  return pairsOf(means.length).map(([i, j]) => rows.reduce((sum, row) =>
    sum + (row[i!]! - means[i!]!) * (row[j!]! - means[j!]!) / rows.length, 0));
}

/** Central moments of the third and fourth order, then skewness and excess kurtosis by column. */
function momentsOf(rows: readonly Float64Array[]): number[] {
  const means = meansOf(rows);
  const d = means.length;
  const central = (place: readonly number[]): number => rows.reduce((sum, row) =>
    sum + place.reduce((product, j) => product * (row[j]! - means[j]!), 1) / rows.length, 0);
  const tensorOf = (order: number): number[] => Array.from({ length: d ** order }, (_, at) =>
    central(Array.from({ length: order }, (__, k) => Math.floor(at / d ** k) % d)));
  const along = (order: number): number[] => columnsOf(d).map((j) =>
    central(new Array<number>(order).fill(j)) / central([j, j]) ** (order / 2));
  return [
    ...tensorOf(3), ...tensorOf(4), ...along(3), ...along(4).map((kurtosis) => kurtosis - 3),
  ];
}

type Law = Pick<Form, 'terms' | 'exempt'> & { readonly exact?: Form['exact'] };

const countsMoveOnly = 'a count by half-open bins: its mirror image is open at the other ends';
const oneColumn = {
  'columns in another order': 'it is about one column',
  'the first column times a power of two': 'it has one column',
} as const;
const publicPlaces = {
  'a constant column': 'it counts at public places, whatever the rows are like',
  'a constant far away': 'it counts at public places, whatever the rows are like',
  'columns of 0 and 1': 'it counts at public places, whatever the rows are like',
} as const;
const sumMoves = {
  'shifted by thousands and millions': 'a total moves by the shift of all who came',
  'shifted by up to 1e15': 'a total moves by the shift of all who came',
} as const;
const ofDigits =
  'its candidates are numbers of few digits, and double one is not always such a number';
const ofLadder = 'its candidates lie most densely about zero, which is a public place';
const ofMedian = 'it is a median, which of as many 0 as 1 is anything between';
const manySpreads =
  'its groups are told apart to 2^-20 spreads, so that rows are to be within 2^32 '
  + 'spreads of zero: beyond it refuses';
const ofRadius = {
  'shifted by thousands and millions': 'its radius is about zero, which is a public place',
  'shifted by up to 1e15': 'its radius is about zero, which is a public place',
} as const;

/** How the answers of an estimator move. */
function lawOf(estimator: string, d: number, sample: ComplianceSample): Law {
  const bounded = 'radius' in sample.parameters;
  const truth = (rows: readonly Float64Array[]): readonly number[] => sample.truth(d, rows);
  switch (estimator) {
    case 'count': return {
      terms: fixed(d, 1), exact: truth,
      exempt: { ...oneColumn, ...publicPlaces, negated: countsMoveOnly },
    };
    case 'share': return {
      terms: fixed(d, 1), exact: truth,
      exempt: { ...oneColumn, ...publicPlaces, negated: countsMoveOnly },
    };
    case 'histogram': return {
      terms: fixed(d, 5), exact: truth,
      exempt: { ...oneColumn, ...publicPlaces, negated: countsMoveOnly },
    };
    case 'distribution': return {
      terms: [
        ...Array.from({ length: 3 }, (_, i) => ({ ...placed(d, 0), of: `q${i}` })),
        ...fixed(d, sample.truth(d, [Float64Array.of(0)]).length - 3),
      ],
      exact: truth,
      exempt: { ...oneColumn, ...publicPlaces, negated: countsMoveOnly },
    };
    case 'median': return {
      terms: columnsOf(d).map((j) => placed(d, j)), exact: truth,
      exempt: {
        ...publicPlaces,
        'all columns times a power of two': ofDigits,
        'the first column times a power of two': ofDigits,
        'shifted by thousands and millions': ofLadder,
        'shifted by up to 1e15': 'cells of a range so far out are no longer distinct numbers',
      },
    };
    case 'quantile': return {
      terms: Array.from({ length: 3 }, (_, i) => ({ ...placed(d, 0), of: `q${i}` })),
      exact: truth,
      exempt: {
        ...oneColumn, ...publicPlaces, negated: 'its probabilities would have to be turned, too',
        'all columns times a power of two': ofDigits,
        'shifted by thousands and millions': ofLadder,
        'shifted by up to 1e15': 'cells of a range so far out are no longer distinct numbers',
      },
    };
    case 'sum': return {
      terms: columnsOf(d).map((j) => moving(d, j)), exact: truth,
      exempt: {
        ...sumMoves, ...publicPlaces, 'every row twice': 'a total doubles: tested with its counts',
      },
    };
    case 'ratio': return {
      terms: [{ powers: [1, -1], signs: [1, -1], place: null }], exact: truth,
      exempt: {
        ...publicPlaces, ...sumMoves, negated: 'its values are from 0 to the caps',
        'columns in another order': 'it is the other quotient',
      },
    };
    case 'covariance': case 'stable-covariance':
      return { terms: covariances(d), exact: covariancesOf, exempt: {} };
    case 'subsample-covariance': return {
      terms: covariances(d), exact: covariancesOf, exempt: {
        'all columns times a power of two':
          'bins of logarithms do not move with the unit: near, as with powers of ten',
      },
    };
    case 'gaussian': return {
      terms: [...locations(d), ...covariances(d)],
      exact: (rows) => [...meansOf(rows), ...covariancesOf(rows)], exempt: {},
    };
    case 'stable-moments': return {
      terms: [
        ...tensor(d, 3), ...tensor(d, 4), ...alongColumns(d, 3), ...alongColumns(d, 4),
      ], exact: momentsOf, exempt: {},
    };
    case 'mixture-1d': return {
      terms: [...fixed(d, 1), placed(d, 0), { ...moving(d, 0), signs: unit(d) }],
      exempt: oneColumn,
    };
    case 'mixture':
      return { terms: [...fixed(d, 1), ...locations(d), ...covariances(d)], exempt: {} };
    case 'select': return {
      terms: fixed(d, 1),
      exempt: {
        ...oneColumn, ...publicPlaces, negated: 'its hypotheses are at public places',
      },
    };
    case 'subspace': return {
      terms: [...pairsOf(d).map((pair) => ({
        powers: unit(d), signs: unit(d, ...pair), place: null,
      })), ...fixed(d, 1)],
      exempt: {
        ...sumMoves, ...publicPlaces,
        'the first column times a power of two': 'it is another subspace',
      },
    };
    case 'heavy-tailed': return {
      terms: locations(d), exact: meansOf,
      exempt: { ...(d === 1 ? oneColumn : {}), ...(bounded ? ofRadius : {}) },
    };
    case 'tukey-median': return {
      terms: locations(d), exact: meansOf, exempt: { 'columns of 0 and 1': ofMedian },
    };
    case 'populous-mean': return {
      terms: locations(d), exact: meansOf, exempt: { 'shifted by up to 1e15': manySpreads },
    };
    default: return { terms: locations(d), exact: meansOf, exempt: {} };
  }
}

/** Estimators whose releases of these samples take a quarter of a second and more. */
const heavy = new Set([
  'populous-mean', 'resilience', 'tukey-median', 'stable-moments', 'mixture-1d', 'mixture',
]);

function formOf(
  estimator: string, label: string, sample: ComplianceSample,
  more: { readonly parameters?: Form['parameters']; readonly exempt?: Form['exempt'] } = {},
): Form {
  const { dimension, cohort, unit: spread, parameters } = sample;
  const law = lawOf(estimator, dimension, sample);
  const isHeavy = heavy.has(estimator) || label.startsWith('reference')
    || label === 'robust groups';
  return {
    estimator, label, dimension, cohort, spread, isHeavy, terms: law.terms,
    parameters: more.parameters ?? parameters,
    exact: law.exact ?? ((rows) => sample.truth(dimension, rows)),
    row: (data) => sample.honest(data),
    exempt: { ...law.exempt, ...more.exempt },
  };
}

const hasFoundSpread = (name: string): boolean => findEstimator(name).parameters.some((spec) =>
  spec.name === 'spread' && spec.choices?.includes('auto') === true);

const wordOf = ({ variant, shape, directions }: Form['parameters']): string => {
  const words = [variant, shape, directions === 'one' ? 'one direction' : undefined]
    .filter((word) => typeof word === 'string');
  return words.length === 0 ? 'groups' : words.join(', ');
};

/** The samples of test/compliance, the same with the spread left to find, and other forms. */
export const forms: readonly Form[] = [
  ...estimators.map(({ name }) => formOf(name, '', {
    ...samples[name]!,
    // A default in data units has to move as well.
    parameters: { ...(name === 'subspace' ? { unit: 1 } : {}), ...samples[name]!.parameters },
  })),
  ...estimators.filter(({ name }) => hasFoundSpread(name) && 'spread' in samples[name]!.parameters)
    .map(({ name }) => formOf(name, 'spread found', {
      ...samples[name]!, cohort: 8_000,
    }, { parameters: {} })),
  ...complianceForms.map(([name, sample]) => formOf(name, wordOf(sample.parameters), sample)),
  formOf('covariance', 'nothing given', { ...samples['covariance']!, parameters: {} }),
  formOf('gaussian', 'nothing given', { ...samples['gaussian']!, parameters: {} }),
  formOf('gaussian', 'arms split', {
    ...samples['gaussian']!, cohort: 20_000, parameters: { arms: 'split' },
  }),
  formOf('gaussian', 'robust groups', {
    ...samples['gaussian']!, cohort: 30_000, parameters: { local: 'robust' },
  }),
  formOf('mean', 'range', { ...samples['mean']!, parameters: { range: '-20..20' } }),
  formOf('robust-mean', 'range and spread', {
    ...samples['robust-mean']!, parameters: { range: '-200..200', spread: 3 },
  }),
  formOf('tukey-median', 'radius', {
    ...samples['tukey-median']!, parameters: { radius: 50, spread: 3 },
  }, { exempt: {
    ...ofRadius, 'the first column times a power of two': 'one radius is for all columns',
    'columns of 0 and 1': ofMedian,
  } }),
  formOf('heavy-tailed', 'groups, radius', {
    ...complianceForms.find(([name]) => name === 'heavy-tailed')![1],
    parameters: { radius: 50, spread: 3, variant: 'groups' },
  }),
  formOf('sum', 'cap found', {
    ...samples['sum']!, dimension: 1, honest: (data) => Float64Array.of(50 * data.uniform()),
    parameters: { cap: 'auto', 'cap-max': 1e4 },
    truth: (_, rows) => [rows.reduce((sum, [value = NaN]) => sum + value, 0)],
  }, { exempt: { negated: 'a cap is for values from 0 on' } }),
];

/** The name of a form in tables and tests. */
export const nameOf = ({ estimator, label }: Form): string =>
  (label === '' ? estimator : `${estimator} (${label})`);
