import type { Asked, Cell } from './cells.js';
import type { Figures } from './measure.js';

const intro = `# Promises

Every estimator at its defaults, over rows of many shapes and under attacks. Epsilon is 1 and delta 1e-6 unless a row says
otherwise. Counts, shares, histograms, medians, quantiles, sums and ratios are planned as one release alone,
others as a release of a study. \`npm run promises\` measures every row and writes this page; the same code gives the same figures. The table of limits is
\`test/promises/table.ts\`, and \`test/promises\` holds that each figure keeps its limit. **Limits may only be tightened.** A commit that
widens one does nothing else, and says why.

| column | what it is |
|---|---|
| estimator, spread | whether the spread is found privately or given; \`auto\` is what is recommended for a covariance |
| rows, attack | shapes and attacks of \`bench/accuracy\`. One row in twenty is hostile under attack, or the stated corruption. \`line\` and \`stones\` are in \`test/promises\` |
| error | median distance of the answers from the truth, with its limit. Means: in deviations along uncorrelated directions, from the mean of the honest rows. Covariances: Frobenius norm of the error where that of honest rows is I, over sqrt(d). Counts and totals: the largest error, in a share of all people. Quantiles: in deviations. Mixtures: total variation. Moments: the largest error of a skewness or kurtosis |
| held | of the intervals with both ends finite, how many hold the truth, which for clean means is that of the long run: \`interval95\`, and under attack \`intervalIfFalse95\`. An open end is neither held nor missed. So few may miss that 95 % intervals would miss more once in 1,000 times |
| finite | share of the intervals that have both ends finite, with its limit where that is not all |
| width | median width of those, in deviations or in a share of all people, with its limit |
| left out | median share of the rows left out, as the releases say, with its limit where that is not .001 |
| answers | how many releases answer, of all; the rest refuse |

A figure in bold misses its limit. This is known, and what misses must be mended; the limit is what is right.
`;

const short = (value: number | null): string =>
  (value === null ? '-' : value === 0 ? '0' : String(Number(value.toPrecision(3))));

/** A figure beside its limit. */
const beside = (value: number | null, limit: number | null): string =>
  (limit === null || value === null ? short(value) : `${short(value)} / ${short(limit)}`);

/** One line of the table of the page. */
export function rowOf(cell: Cell, figures: Figures): string {
  const { limits, missed } = cell;
  const marked = (name: Asked, text: string): string =>
    (missed.includes(name) ? `**${text}**` : text);
  const [estimator, spread, size, ...rest] = cell.name.split(' ');
  const usual = (value: number, limit: number, common: number): string =>
    (limit === common ? short(value) : beside(value, limit));
  const { held, closed, finite } = figures;
  return `| ${[
    estimator, spread, size, rest.join(' '),
    marked('error', beside(figures.error, limits.error)),
    marked('held', held === null ? '-' : `${Math.round(held * closed)} of ${closed}`),
    marked('finite', finite === null ? '-' : usual(finite, limits.finite, 1)),
    marked('width', beside(figures.width, limits.width)),
    marked('removed', usual(figures.removed, limits.removed, 0.001)),
    marked('answered', `${Math.round(figures.answered * cell.seeds)} of ${cell.seeds}`),
  ].join(' | ')} |`;
}

/** The page of results, in Markdown. */
export function pageOf(measured: readonly (readonly [Cell, Figures])[]): string {
  const missing = measured.filter(([{ missed }]) => missed.length > 0).length;
  return [
    intro,
    `${measured.length} rows, of which ${missing} miss something that they must keep.`, '',
    '| estimator | spread | people x columns | rows, attack | error / limit | held | finite | '
      + 'width / limit | left out | answers |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...measured.map(([cell, figures]) => rowOf(cell, figures)), '',
  ].join('\n');
}

/** The rows of a page as they were written, by the name of the cell. */
export function rowsOfPage(page: string): ReadonlyMap<string, string> {
  return new Map(page.split('\n').filter((line) => /^\| [\w-]+ \| (found|given|none) /.test(line))
    .map((line) => [line.split(' | ').slice(0, 4).join(' ').slice(2), line]));
}

/** The figures that a row of the page shows. */
export function figuresOfRow(row: string): Figures {
  const [error, held, finite, width, removed, answers] = row.slice(2, -2).split(' | ').slice(4)
    .map((text) => text.replaceAll('**', '').split(' / ')[0]!.split(' of ')
      .map((part) => (part === '-' ? null : Number(part))));
  const [holding, closed] = held!;
  return {
    error: error![0]!, held: holding === null ? null : holding! / closed!, closed: closed ?? 0,
    finite: finite![0]!, width: width![0]!, removed: removed![0]!,
    answered: answers![0]! / answers![1]!,
  };
}
