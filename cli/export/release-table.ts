import { answerKeys } from '../../src/answers/describe.js';
import { shownInterval } from '../../src/answers/intervals.js';
import { typesOfColumns } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { leftOutText } from '../../src/answers/left-out.js';
import { noiseDeviations } from '../../src/base/noise-deviations.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { entriesOf } from '../../src/base/parts.js';
import type { Question } from '../../src/base/questions.js';
import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import type { Answer, ReleaseBody } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/** The columns of exported releases. All but the first five and `outcome` may be empty. */
export const releaseColumns = [
  /** From 0: the place in the log. */
  { name: 'release', type: 'integer' },
  { name: 'epoch', type: 'integer' },
  /** Milliseconds since 1970. */
  { name: 'closed_at_ms', type: 'integer' },
  { name: 'question', type: 'text' },
  { name: 'estimator', type: 'text' },
  /** The group of a split answer; a JSON list if it is split by several columns. */
  { name: 'group', type: 'text' },
  { name: 'part', type: 'text' },
  /** The subject of the number: a column, a counted name, or its place in the answer. */
  { name: 'name', type: 'text' },
  /** `value`, `no-answer` (of one group), or `refused`. */
  { name: 'outcome', type: 'text' },
  { name: 'reason', type: 'text' },
  { name: 'estimate', type: 'number' },
  /** Standard deviation of the noise. */
  { name: 'deviation', type: 'number' },
  /** Also holds if the stated share of people lies, where the release says how far that reaches. */
  { name: 'low95', type: 'number' },
  { name: 'high95', type: 'number' },
  /** The other interval of such a release, for the case that nobody lies. */
  { name: 'low_if_honest95', type: 'number' },
  { name: 'high_if_honest95', type: 'number' },
  /** The cost of this answer of this release: one cost for all its rows. */
  { name: 'rho', type: 'number' },
  { name: 'delta', type: 'number' },
  /** The study's epsilon after this release. */
  { name: 'epsilon_spent', type: 'number' },
  /** The rows and keys of people that do not count in the answer, in sentences. */
  { name: 'left_out', type: 'text' },
] as const;

/** The value of a cell; null if it is empty. */
export type ExportCell = string | number | null;
/** Columns of cells, in the order of `releaseColumns`. */
export type ReleaseTable = readonly (readonly ExportCell[])[];

/** An export is made in memory. */
const rowsMax = 1 << 20;

/** Collects the releases of a log, to make one table of them once the log is verified. */
export class ReleaseExport {
  private readonly releases: ReleaseBody[] = [];
  private rows = 0;

  /** @throws InvalidInputError if the table would have more than 1,048,576 rows. */
  take(release: ReleaseBody): void {
    this.rows += release.answers.reduce((sum, { outcome }) =>
      sum + (outcome.kind === 'value' ? rowsOfValue(outcome) : 1), 0);
    if (this.rows > rowsMax) {
      throw new InvalidInputError(`the export would have more than ${rowsMax} rows: leave --export `
        + 'out, and read the log itself: it has one release on each line', { limit: rowsMax });
    }
    this.releases.push(release);
  }

  /**
   * One row for each number of each answer, or for each key of an answer of keys alone, and one for
   * each answer that was refused.
   */
  table(document: StudyDocument): ReleaseTable {
    const columns: ExportCell[][] = releaseColumns.map(() => []);
    const questions = document.questions;
    for (const release of this.releases) {
      release.answers.forEach((answer, i) => {
        for (const row of rowsOf(answer, questions[i]!, release, document)) {
          row.forEach((cell, column) => columns[column]!.push(cell));
        }
      });
    }
    return columns;
  }
}

function rowsOfValue({ estimate, groups = [] }: ValueOutcome): number {
  return estimate.length === 0 ? groups.length : estimate.length;
}

function* rowsOf(
  { question, estimator, outcome, rhoAmount, deltaAmount }: Answer, asked: Question,
  { index, epoch, closedAtMs, ledger }: ReleaseBody, document: StudyDocument,
): Generator<readonly ExportCell[]> {
  const facts = [Number(index), Number(epoch), Number(closedAtMs), question, estimator];
  const costs = [
    amountToNumber(rhoAmount as Amount), amountToNumber(deltaAmount as Amount),
    ledger.epsilonSpent,
    leftOutText(asked, document).join(' ') || null,
  ];
  if (outcome.kind === 'refused') {
    const empty = [null, null, null, null, null, null];
    yield [...facts, null, null, null, 'refused', outcome.reason, ...empty, ...costs];
    return;
  }
  const { estimate, uncertainty, interval95, intervalIfFalse95 } = outcome;
  const shown = shownInterval(outcome);
  const honest = intervalIfFalse95 === undefined ? undefined : interval95;
  const deviations = noiseDeviations(uncertainty);
  const places = placesOf(outcome, asked, document);
  for (let i = 0; i < rowsOfValue(outcome); i++) {
    const { key, part, name, isAnswered } = places[i]!;
    const numbers = [
      estimate[i], deviations?.[i],
      shown?.low[i], shown?.high[i], honest?.low[i], honest?.high[i],
    ].map((number) => (isAnswered ? finite(number) : null));
    yield [
      ...facts, key, part, name, isAnswered ? 'value' : 'no-answer', null, ...numbers, ...costs,
    ];
  }
}

/** The end of an interval is empty where nothing is known on its side. */
function finite(number: number | undefined): number | null {
  return number !== undefined && Number.isFinite(number) ? number : null;
}

interface PlaceInAnswer {
  readonly key: string | null;
  readonly part: string | null;
  readonly name: string;
  readonly isAnswered: boolean;
}

/** The place of each number of an answer. */
function placesOf(
  { estimate, shape, groups, answered, parts }: ValueOutcome, asked: Question,
  document: StudyDocument,
): readonly PlaceInAnswer[] {
  const { columns, estimator, parameters } = asked;
  if (groups !== undefined) {
    // An answer of keys alone has a row for each key, without numbers.
    const stride = groups.length === 0 ? 0 : Math.max(1, estimate.length / groups.length);
    return groups.flatMap((key, i) => Array.from({ length: stride }, (_, place): PlaceInAnswer => ({
      key: key.length === 1 ? key[0]! : JSON.stringify(key), part: null,
      name: estimate.length === 0 ? '' : nameOf(shape.slice(1), place, columns),
      isAnswered: answered?.[i] !== false,
    })));
  }
  if (parts !== undefined) {
    return parts.flatMap((part) => Array.from({ length: entriesOf(part.shape) }, (_, place) => ({
      key: null, part: part.name, name: nameOf(part.shape, place, columns), isAnswered: true,
    })));
  }
  const types = typesOfColumns(document, columns);
  const names = answerKeys({ estimator, parameters, columns, types });
  return estimate.map((_, place) => ({
    key: null, part: null, isAnswered: true,
    name: names?.length === estimate.length ? names[place]! : nameOf(shape, place, columns),
  }));
}

/** The column of each axis that has one entry for each column, else the place along it, from 0. */
function nameOf(shape: readonly number[], place: number, columns: readonly string[]): string {
  const names: string[] = [];
  let rest = place;
  for (const length of [...shape].reverse()) {
    const at = rest % length;
    rest = Math.floor(rest / length);
    names.unshift(length === columns.length ? columns[at]! : `[${at}]`);
  }
  return names.length === 0 ? columns.join(', ') : names.join(', ');
}
