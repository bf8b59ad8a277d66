import { signing } from '#signing';
import {
  datasetSource, numberAttacks, protocolAttacks, rowAttacks, type ProtocolAttack, type RowAttack,
  type RowSource,
} from '../../simulation/index.js';
import { utf8 } from '../../src/base/bytes.js';
import type { WorkRandom } from '../../src/random/source.js';
import { seededRandom } from '../../src/random/work.js';
import { gaussianVector } from '../../simulation/data/gaussian.js';
import { loadFlights } from '../data/flights.js';
import { keyedColumns, keyedSpread, keyedSource } from './keyed.js';

/** The rows of the lab's honest people. */
export interface LabData {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly string[];
  /** The unit of errors and attacks, one per column. Public, as a study would state it. */
  readonly spread: readonly number[];
  /** Rows per contribution. */
  readonly rows: number;
  /** Answers are split by key: see keyed. Absent: they are means of the columns. */
  readonly isKeyed?: true;
  /** Everybody's rows. All studies get the same ones, so that their answers can be compared. */
  source(contributors: number, seed: Uint8Array): RowSource;
}

/** The attacks that are played on such people, the usual one first. */
export function attacksOn({ isKeyed }: LabData): readonly (RowAttack | ProtocolAttack)[] {
  const keyAttacks = rowAttacks.filter((attack) => !numberAttacks.includes(attack));
  return [...isKeyed === true ? keyAttacks : numberAttacks, ...protocolAttacks];
}

/** The data sets of the lab. */
export const labData: readonly LabData[] = [
  {
    name: 'flights',
    title: 'eight flights a person, out of 231,083 real ones',
    columns: ['delay_minutes', 'distance_miles'],
    spread: [20, 300],
    rows: 8,
    source: flightsSource,
  },
  drawn('gaussian', 'independent normal columns', 5, (random) => gaussianVector(5, random)),
  drawn('heavy-tailed', 'Student t with 3 degrees of freedom in every column', 5, (random) =>
    studentVector(5, random)),
  drawn('correlated', 'normal columns that share nine tenths of their variance', 5, (random) => {
    const [common, ...own] = gaussianVector(6, random);
    return Float64Array.from(own, (value) => Math.sqrt(0.9) * common! + Math.sqrt(0.1) * value);
  }),
  {
    name: 'rides',
    title: 'a ride of each person, with a region and an app; answers are by key',
    columns: keyedColumns,
    spread: keyedSpread,
    rows: 1,
    isKeyed: true,
    source: keyedSource,
  },
];

function flightsSource(contributors: number, seed: Uint8Array): RowSource {
  const { count, columns } = loadFlights();
  const values = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    values[2 * i] = columns.delay[i]!;
    values[2 * i + 1] = columns.distance[i]!;
  }
  return datasetSource({ values, columns: 2, rows: 8, contributors, seed });
}

/** One fresh row per person and epoch, with spread 10 around 100, 200, 300 ... */
function drawn(
  name: string, title: string, columns: number, draw: (random: WorkRandom) => Float64Array,
): LabData {
  return {
    name,
    title,
    columns: Array.from({ length: columns }, (_, i) => `column_${i + 1}`),
    spread: Array<number>(columns).fill(10),
    rows: 1,
    source: (_, seed) => {
      const random =
        seededRandom(signing.sha512(utf8(`lab ${name} ${seed.join()}`)).subarray(0, 32));
      return (contributor, epoch) =>
        draw(random.fork(`${epoch} ${contributor}`)).map((value, j) => 100 * (j + 1) + 10 * value);
    },
  };
}

/** Student t with 3 degrees of freedom, divided by sqrt 3 so that its variance is 1. */
function studentVector(columns: number, random: WorkRandom): Float64Array {
  const normals = gaussianVector(4 * columns, random);
  return Float64Array.from({ length: columns }, (_, j) => {
    const [top, ...rest] = normals.subarray(4 * j, 4 * j + 4);
    return top! / Math.sqrt(rest.reduce((sum, value) => sum + value * value, 0));
  });
}
