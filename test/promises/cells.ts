import { table } from './table.js';

/** What figures of a cell may be. Figures without a limit are not asked for. */
export interface Limits {
  /** At most. */
  readonly error: number;
  /** Median width of the intervals, at most; null: it has none. */
  readonly width: number | null;
  /** Share of the rows left out, at most. Default: a thousandth. */
  readonly removed: number;
  /** Share of the releases with an answer, at least. Default: all. */
  readonly answered: number;
  /** Share of the intervals with both ends finite, at least. Default: all. */
  readonly finite: number;
}

/** What can be asked of a cell: its limits, and that intervals hold. */
export type Asked = keyof Limits | 'held';

/** Releases of one estimator over rows of one kind, and what their figures may be. */
export interface Cell {
  /** As in the table: what the other fields are read from. */
  readonly name: string;
  /** A registered one; or `auto`, which is what is recommended for a covariance. */
  readonly estimator: string;
  readonly spread: 'found' | 'given' | 'none';
  readonly rows: string;
  readonly attack: string;
  readonly columns: number;
  readonly people: number;
  /** Of the rows, and what the estimator is told where that is in the name. */
  readonly corruption: number;
  readonly epsilon: number;
  readonly set: Readonly<Record<string, string | number>>;
  readonly seeds: number;
  readonly limits: Limits;
  /** What this version does not keep yet, and must. */
  readonly missed: readonly Asked[];
  /** It is in `npm test`. */
  readonly isQuick: boolean;
}

/** What may stand behind the name and the two limits of a row of the table. */
export interface RowOptions extends Partial<Omit<Limits, 'error' | 'width'>> {
  readonly seeds?: number;
  readonly missed?: readonly Asked[];
  readonly quick?: true;
}

/**
 * A row of the table: `estimator spread peoplexcolumns rows attack`, and parameters as
 * `name=value`; the limits on error and width; options.
 */
export type Row = readonly [string, number, number | null, RowOptions?];

const hypotheses = [-2, 0, 2].map((mean) => ({ normal: { mean, deviation: 1 } }));

/** What an estimator must be told besides the spread. */
const needed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  count: { threshold: 0.5 },
  share: { threshold: 0.5 },
  histogram: { edges: [-1, 0, 1] },
  sum: { range: '-20..20' },
  ratio: { cap: 20 },
  quantile: { range: '-10..30' },
  distribution: { range: '-10..30' },
  select: { hypotheses },
};

/** The parameters of a cell: what must be given, and what its name adds. */
export function settingsOf({ estimator, spread, set }: Cell): Readonly<Record<string, unknown>> {
  const radius = set['variant'] === 'candidates' ? { radius: 100 } : {};
  // A cap stands in place of a range.
  const asked = set['cap'] === undefined ? needed[estimator] : {};
  return { ...asked, ...radius, ...(spread === 'given' ? { spread: 1 } : {}), ...set };
}

function cellOf([name, error, width, options = {}]: Row): Cell {
  const [estimator, spread, size, rows, attack, ...more] = name.split(' ') as
    [string, Cell['spread'], string, string, string, ...string[]];
  const [people, columns] = size.split('x').map(Number) as [number, number];
  const set = Object.fromEntries(more.map((text) => {
    const [key, value] = text.split('=') as [string, string];
    return [key, Number.isNaN(Number(value)) ? value : Number(value)];
  }));
  const { epsilon = 1, ...parameters } = set;
  const { removed = 0.001, answered = 1, finite = 1 } = options;
  return {
    name, estimator, rows, attack, columns, people, spread, epsilon: Number(epsilon),
    corruption: Number(set['corruption'] ?? 0.05), set: parameters, seeds: options.seeds ?? 3,
    limits: { error, width, removed, answered, finite },
    missed: options.missed ?? [], isQuick: options.quick ?? false,
  };
}

/**
 * Forms that were estimators of their own: what a row's name begins and ends with, and the name
 * that it began with when its figures were measured.
 */
const measuredAs: readonly (readonly [begin: string, end: string, before: string])[] = [
  ['stable-mean ', ' variant=reference', 'stable-mean '], ['stable-mean ', '', 'stable-mean-dual '],
  ['prime ', ' directions=one', 'spectral-filter '],
  ['heavy-tailed ', ' variant=groups', 'heavy-tailed-1d '],
  ['heavy-tailed ', ' variant=candidates', 'heavy-tailed-pure '],
];

/** Seeds the noise of a row, so that it has the figures that it was measured with. */
export function noiseNameOf({ name }: Cell): string {
  const form = measuredAs.find(([begin, end]) => name.startsWith(begin) && name.endsWith(end));
  if (form === undefined) return name;
  const [begin, end, before] = form;
  const rest = name.slice(begin.length, name.length - end.length);
  const isBounded = before === 'heavy-tailed-1d ' && rest.endsWith(' radius=1');
  return `${before}${rest}${isBounded ? ' privacy=zcdp' : ''}`;
}

/** The whole table, in its order. */
export const cells: readonly Cell[] = table.map(cellOf);
