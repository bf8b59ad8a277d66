import { dataSource } from '../support/data.js';
import type { TestColumn } from '../support/table-files.js';

/** A row of somebody's, as it is in every kind of file. */
export interface PersonRow {
  readonly id: bigint;
  readonly minutes: number;
  readonly stops: number;
  readonly late: boolean;
  readonly region: 'north' | 'south';
  readonly at: number;
  readonly score: number | null;
}

export const people = 240;
/** Whole numbers from here on are not all doubles. */
const firstId = 2n ** 53n;

/** One to three rows each, those of one person not side by side. */
export const rows: readonly PersonRow[] = (() => {
  const data = dataSource('ways');
  return [0, 1, 2].flatMap((round) => Array.from({ length: people }, (_, i) => i)
    .filter((i) => i % 3 >= round)
    .map((i): PersonRow => ({
      id: firstId + BigInt(i),
      // Numbers of 17 digits, and zeros with a sign.
      minutes: i % 10 === 0 ? -0 : 120 * data.uniform(),
      stops: data.below(7), late: data.below(3) === 0,
      region: i % 2 === 0 ? 'north' : 'south',
      // Times in milliseconds, which are beyond 2^40.
      at: 1_735_689_600_000 + data.below(31_536_000_000),
      score: i % 7 === 3 ? null : 5 * data.uniform(),
    })));
})();

const columns: readonly TestColumn[] = [
  { name: 'id', type: 'int64', values: rows.map(({ id }) => id) },
  { name: 'minutes', type: 'double', values: rows.map(({ minutes }) => minutes) },
  { name: 'stops', type: 'int32', values: rows.map(({ stops }) => stops) },
  { name: 'late', type: 'boolean', values: rows.map(({ late }) => late) },
  { name: 'region', type: 'text', values: rows.map(({ region }) => region) },
  { name: 'at', type: 'double', values: rows.map(({ at }) => at) },
  { name: 'score', type: 'double', values: rows.map(({ score }) => score) },
];
export { columns as tableColumns };

const written = (value: unknown): string =>
  (Object.is(value, -0) ? '-0' : String(value));

/** As a program would write them that keeps the sign of zero. */
export const csv = [
  columns.map(({ name }) => name).join(','),
  ...rows.map((_, i) => columns.map(({ values }) =>
    (values[i] === null ? '' : written(values[i]))).join(',')),
].join('\n');

export const ndjson = rows.map((_, i) => `{${columns.map(({ name, type, values }) =>
  `"${name}":${type === 'text' ? JSON.stringify(values[i]) : written(values[i])}`)
  .join(',')}}`).join('\n');

/** The columns by which questions are split, and the keys of one person that count: all it has. */
export const groupsMaxOf = { region: 1, stops: 3 };
/** Other numbers of stops count as other. */
const [stopsLow, stopsHigh] = [2, 5];

/** One way to ask a question, and the rows that its estimator has to see. */
export interface WayQuestion {
  readonly name: string;
  readonly estimator: string;
  readonly columns: readonly (keyof PersonRow)[];
  readonly where?: { readonly text: string; readonly test: (row: PersonRow) => boolean };
  readonly reduce: 'mean' | 'sum';
  readonly by?: keyof typeof groupsMaxOf;
  readonly parameters: Readonly<Record<string, string>>;
}

const isLate = { text: 'late=true', test: ({ late }: PersonRow): boolean => late };
const isRecent = {
  text: 'at>=1751328000000', test: ({ at }: PersonRow): boolean => at >= 1_751_328_000_000,
};

export const questions: readonly WayQuestion[] = [
  {
    name: 'late-people', estimator: 'count', columns: [], where: isLate, reduce: 'mean',
    parameters: {},
  },
  {
    name: 'recent', estimator: 'count', columns: [], where: isRecent, reduce: 'mean',
    parameters: {},
  },
  {
    name: 'time', estimator: 'sum', columns: ['minutes'], reduce: 'sum',
    parameters: { cap: '400' },
  },
  {
    name: 'typical', estimator: 'mean', columns: ['minutes'], reduce: 'mean',
    parameters: { range: '0..240' },
  },
  {
    name: 'longest', estimator: 'mean', columns: ['minutes'], reduce: 'sum', where: isRecent,
    parameters: { range: '0..400' },
  },
  {
    name: 'late-share', estimator: 'share', columns: ['late'], reduce: 'mean', parameters: {},
  },
  {
    name: 'per-stop', estimator: 'ratio', columns: ['minutes', 'stops'], reduce: 'sum',
    parameters: { cap: '400,20' },
  },
  {
    name: 'when', estimator: 'quantile', columns: ['at'], reduce: 'mean',
    parameters: { range: '1735689600000..1767225600000' },
  },
  {
    name: 'scores', estimator: 'histogram', columns: ['score'], reduce: 'mean',
    parameters: { edges: '1,2,3,4' },
  },
  {
    name: 'robust', estimator: 'robust-mean', columns: ['minutes', 'score'], reduce: 'mean',
    parameters: { spread: '35,1.5' },
  },
  {
    name: 'by-region', estimator: 'mean', columns: ['minutes'], reduce: 'mean', by: 'region',
    parameters: { range: '0..240' },
  },
  {
    name: 'by-stops', estimator: 'count', columns: [], reduce: 'mean', by: 'stops', parameters: {},
  },
];

/** The rows that the estimator of a question has to see, written out plainly. */
export function rowsDue({ columns: names, where, reduce, by }: WayQuestion): number[][] {
  const ids = [...new Set(rows.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const own = rows.filter((row) => row.id === id && (where?.test(row) ?? true)
      && names.every((name) => row[name] !== null));
    if (own.length === 0) return [];
    const values = names.map((name) => {
      const sum = own.reduce((total, row) => total + Number(row[name]), 0);
      return reduce === 'sum' ? sum : sum / own.length;
    });
    if (by === 'region') return [[own[0]!.region === 'north' ? 0 : 1, ...values]];
    if (by === 'stops') {
      return [...new Set(own.map(({ stops }) => (stops < stopsLow || stops > stopsHigh
        ? stopsHigh + 1 - stopsLow : stops - stopsLow)))].map((place) => [place]);
    }
    return [values.length === 0 ? [0] : values];
  });
}

/** @param only - a list of questions; default all. */
export function studyFile(name: string, only = questions, epsilon = 95): string {
  const asked = only.map((question) => {
    const { estimator, columns: names, where, reduce, by: column, parameters } = question;
    const tests = where === isLate ? ', where: { late: true }'
      : where === isRecent ? ', where: { at: { at-least: 1751328000000 } }' : '';
    const by = column === undefined ? ''
      : `, by: { column: ${column}, groupsMax: ${groupsMaxOf[column]} }`;
    const given = Object.entries(parameters).map(([key, value]) =>
      `${key}: ${value.includes(',') ? `[${value}]` : value}`).join(', ');
    const own = names.length === 0 ? '' : `, columns: [${names.join(', ')}], reduce: ${reduce}`;
    return `  ${question.name}: { estimator: ${estimator}${own}${tests}${by}`
      + `${given === '' ? '' : `, parameters: { ${given} }`} }\n`;
  });
  return `study: ${name}
columns:
  minutes: { type: number, low: -1, high: 240 }
  stops: { type: integer, low: ${stopsLow}, high: ${stopsHigh} }
  late: boolean
  region: { type: category, of: [north, south] }
  at: { type: number, low: 0, high: 2000000000000 }
  score: { type: number, low: 0, high: 5, optional: true }
cohort: ${people}
participation: public
epoch: { contributors: ${people} }
contribution: { rowsMax: 8 }
questions:
${asked.join('')}privacy: { epsilon: ${epsilon}, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-5, scope: study }
`;
}
