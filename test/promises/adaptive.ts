import { writeFileSync } from 'node:fs';
import { randomOf } from '../../bench/accuracy/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { medianOf } from './measure.js';
import { pageAsked } from './page-asked.js';

type Random = ReturnType<typeof randomOf>;

/**
 * Liars that know the rules of `robust-mean`, one attack for each of them. Honest rows have
 * deviation 1 along uncorrelated directions; a liar's row is made from the same numbers.
 */
export interface Adaptive {
  readonly name: string;
  readonly about: string;
  /** Changes an honest row of `d` normal numbers into that of liar `index`. */
  readonly lie: (row: Float64Array, index: number, random: Random) => void;
  /** Honest rows: normal; or rounded to halves; or of condition 1e4, mapped to columns. */
  readonly honest: 'normal' | 'lattice' | 'narrow';
}

const alongOnes = (row: Float64Array, to: number): void => {
  const unit = 1 / Math.sqrt(row.length);
  const along = row.reduce((sum, entry) => sum + entry * unit, 0);
  row.forEach((entry, j) => (row[j] = entry + (to - along) * unit));
};

export const adaptive: readonly Adaptive[] = [
  {
    name: 'below the gate', about: 'a crowd 2.2 deviations off, where no core tells it',
    honest: 'normal', lie: (row, _, { normal }) => alongOnes(row, 2.2 + normal()),
  },
  {
    name: 'shell', about: 'a half sphere just inside the usual radius', honest: 'normal',
    lie(row) {
      const sign = row.reduce((sum, entry) => sum + entry, 0) < 0 ? -1 : 1;
      const factor = (sign * (Math.sqrt(row.length) + 1.2)) / Math.hypot(...row);
      row.forEach((entry, j) => (row[j] = factor * entry));
    },
  },
  {
    name: 'glued tail', about: 'an exponential tail from 1.5 deviations on', honest: 'normal',
    lie: (row, _, { uniform }) => alongOnes(row, 1.5 - Math.log(uniform())),
  },
  {
    name: 'crumbs', about: 'one part in eight each at 3, 6, 12, ... 384 deviations',
    honest: 'normal', lie: (row, index) => alongOnes(row, 3 * 2 ** (index % 8)),
  },
  {
    name: 'one column each', about: '4.7 deviations off in one column, a tenth in each',
    honest: 'normal', lie: (row, index) => void (row[index % row.length]! += 4.7),
  },
  {
    name: 'narrow direction', about: '4.7 deviations off along the least variance, condition 1e4',
    honest: 'narrow', lie: (row) => void (row[row.length - 1]! += 4.7),
  },
  {
    name: 'lattice', about: 'on the lattice of the honest rows, 3 off in every second column',
    honest: 'lattice', lie: (row) => row.forEach((_, j) => (row[j] = j % 2 === 0 ? 3 : 0)),
  },
  {
    name: 'decoy',
    about: 'a touching cluster 4.7 off, and one liar in five 60 off on the other side',
    honest: 'normal',
    lie: (row, index, { normal }) => alongOnes(row, index % 5 === 0 ? -60 : 4.7 + normal()),
  },
];

/** Condition 1e4 of the covariance, in columns that mix all directions: a reflection. */
const widthOf = (j: number, dimension: number): number => 10 ** ((-2 * j) / (dimension - 1));
function mixed(row: Float64Array): Float64Array {
  const { length } = row;
  const sum = row.reduce((all, entry) => all + entry, 0);
  return row.map((entry) => entry - (2 * sum) / length);
}

interface Made {
  readonly values: Float64Array;
  readonly mean: Float64Array;
  readonly inDeviations: (difference: Float64Array) => Float64Array;
}

function rowsOf(attack: Adaptive, { people, columns, share, seed }: Cell): Made {
  const random = randomOf(`adaptive ${attack.name} ${people} ${share} ${seed}`);
  const liars = Math.round(share * people);
  const values = new Float64Array(people * columns);
  const sums = new Float64Array(columns);
  for (let i = 0; i < people; i++) {
    let row: Float64Array = Float64Array.from({ length: columns }, () => random.normal());
    if (attack.honest === 'lattice') row = row.map((entry) => Math.round(2 * entry) / 2);
    if (i < liars) attack.lie(row, i, random);
    if (attack.honest === 'narrow') {
      row = mixed(row.map((entry, j) => entry * widthOf(j, columns)));
    }
    if (i >= liars) row.forEach((entry, j) => (sums[j]! += entry));
    values.set(row, i * columns);
  }
  return {
    values, mean: sums.map((sum) => sum / (people - liars)),
    inDeviations: (difference) => (attack.honest === 'narrow'
      ? mixed(difference).map((entry, j) => entry / widthOf(j, columns)) : difference),
  };
}

interface Cell {
  readonly people: number;
  readonly columns: number;
  /** Of liars, as stated. */
  readonly share: number;
  readonly seed: number;
}

export interface AdaptiveFigures {
  /** Distance from the mean of the honest rows, in deviations, by release. */
  readonly errors: readonly number[];
  /** The same of the mean of all rows. */
  readonly ofAll: readonly number[];
  /** Of `asked` columns, those whose intervalIfFalse95 holds that mean. */
  readonly held: number;
  readonly asked: number;
}

/** Releases of one attack. The same cell gives the same figures. */
export async function adaptiveFigures(
  attack: Adaptive, cell: Omit<Cell, 'seed'>, seeds: number,
): Promise<AdaptiveFigures> {
  const { people, columns, share } = cell;
  const plan = planOf('robust-mean', { corruption: share }, factsOf(columns, people, 1));
  const [errors, ofAll]: [number[], number[]] = [[], []];
  let [held, asked] = [0, 0];
  for (let seed = 0; seed < seeds; seed++) {
    const made = rowsOf(attack, { ...cell, seed });
    const rows = Array.from({ length: people }, (_, i) =>
      made.values.subarray(i * columns, (i + 1) * columns));
    const outcome =
      await releaseOf(plan, columns, rows, `adaptive ${attack.name} ${people} ${share} ${seed}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const off = (answer: ArrayLike<number>): number =>
      Math.hypot(...made.inDeviations(made.mean.map((entry, j) => answer[j]! - entry)));
    errors.push(off(outcome.estimate));
    ofAll.push(off(made.mean.map((_, j) =>
      rows.reduce((sum, row) => sum + row[j]!, 0) / people)));
    const { low, high } = outcome.intervalIfFalse95!;
    made.mean.forEach((entry, j) => {
      asked += 1;
      if (low[j]! <= entry && entry <= high[j]!) held += 1;
    });
  }
  return { errors, ofAll, held, asked };
}

const intro = `# Liars that know the rules

\`robust-mean\` at its defaults, epsilon 1 and delta 1e-6, ten columns, the stated share of liars. Each attack is made against one
rule of it. \`node scripts/adaptive-liars.js\` writes this page; the same code gives the same figures.

| column | what it is |
|---|---|
| error | distance from the mean of the honest rows, in deviations along uncorrelated directions: the median of the releases, and the worst |
| all rows | the same of the mean of all rows, without noise |
| held | of the columns, how many \`intervalIfFalse95\` hold the mean of the honest rows |

| attack | people | liars | error | worst | all rows | held |
|---|---|---|---|---|---|---|
`;

const short = (value: number): string => String(Number(value.toPrecision(3)));

const cells = [[20_000, 0.05], [20_000, 0.1], [100_000, 0.05]] as const;

/**
 * @param args - `--tiny` for one release of each attack, and the page that is written.
 * @returns 1 where intervals miss too often.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { isTiny, page } = pageAsked(args);
  let [text, missed] = [intro, 0];
  for (const attack of adaptive) {
    for (const [people, share] of cells.slice(0, isTiny ? 1 : cells.length)) {
      const cell = { people, columns: 10, share };
      const figures = await adaptiveFigures(attack, cell, isTiny ? 1 : 6);
      const { errors, ofAll, held, asked } = figures;
      if (held < 0.95 * asked) missed += 1;
      text += `| ${attack.name}: ${attack.about} | ${people} | ${share} | ${[
        medianOf(errors), Math.max(...errors), medianOf(ofAll),
      ].map(short).join(' | ')} | ${held} of ${asked} |\n`;
    }
  }
  writeFileSync(page, text);
  process.stdout.write(`${missed} attacks make intervals false\n`);
  return missed === 0 ? 0 : 1;
}
