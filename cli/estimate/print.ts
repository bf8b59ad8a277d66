import type { ParameterValues } from '../../src/estimators/contract/estimator.js';
import type { PrivacyStatement } from '../../src/privacy-statement.js';
import { printAnswer, type AnswerContext } from '../base/answers.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import { formatNumber, type Output } from '../base/output.js';
import { printKeys, type SplitAnswer } from '../base/questions.js';
import type { EstimateResult } from './estimation.js';

/** A result, and the group that it is about; null where the answer is not split. */
export interface GroupResult {
  readonly group: string | null;
  readonly result: EstimateResult;
}

interface Context {
  readonly parameters: ParameterValues;
  readonly texts: AnswerContext['texts'];
}

/**
 * The answers for people. Those of several groups are one table where each is a list of numbers.
 * The assumption and the privacy are said once: they are the same for all.
 */
export function printResults(
  all: readonly GroupResult[], context: Context, output: Output,
): void {
  const answered = all.filter(({ result }) => result.outcome === 'value');
  const split = splitOf(all);
  if (split === null) all.forEach((each) => printOne(each, context, output));
  else {
    const [{ result: { labels, columns } }] = answered as [GroupResult];
    printKeys(split, { ...context, labels: labels ?? columns, columns }, output);
    all.forEach((each) => each.result.outcome === 'refused' && printOne(each, context, output));
  }
  const [first] = answered;
  if (first?.result.assumes !== undefined) printWrapped(`assumes: ${first.result.assumes}`, output);
  const privacy = privacyOf(all);
  if (privacy === null) output.text('nothing was run and nothing is charged');
  else printPrivacy(privacy, output);
}

/** The cost of an answer, and which data sets its promise compares. */
export function printPrivacy(
  { epsilon, delta, rho, neighbours }: PrivacyStatement, output: Output,
): void {
  output.text(`privacy: epsilon ${formatNumber(epsilon)}, delta ${formatNumber(delta)} (rho `
    + `${formatNumber(rho)})`);
  wrap(`it bounds how well an answer can tell apart ${neighbours}`, terminalColumns - 2)
    .forEach((line) => output.text(`  ${line}`));
}

/** The largest cost of a group: nobody is in two. Null if nothing was charged. */
export function privacyOf(all: readonly GroupResult[]): PrivacyStatement | null {
  return all.filter(({ result }) => result.charged).map(({ result }) => result.privacy)
    .reduce<PrivacyStatement | null>((most, each) =>
      (most === null || each.rho > most.rho ? each : most), null);
}

/** The answers of several groups as one; null where there is one, or where they have parts. */
export function splitOf(all: readonly GroupResult[]): SplitAnswer | null {
  const values = all.flatMap(({ result }) => (result.outcome === 'value' ? [result] : []));
  const size = values[0]?.estimate.length ?? 0;
  if (all[0]?.group === null || size === 0
      || values.some(({ estimate, parts }) => estimate.length !== size || parts !== undefined)) {
    return null;
  }
  const nothing = Array.from({ length: size }, () => 0);
  const joined = (of: (result: EstimateResult) => readonly number[] | undefined): number[] =>
    all.flatMap(({ result }) => of(result) ?? nothing);
  const interval = (name: 'interval95' | 'intervalIfFalse95'): Pick<SplitAnswer, typeof name> =>
    (values.every((result) => result[name] === undefined) ? {}
      : { [name]: { low: joined((each) => each[name]?.low ?? nothing.map(() => -Infinity)),
        high: joined((each) => each[name]?.high ?? nothing.map(() => Infinity)) } });
  return {
    keys: all.map(({ group }) => [group!]), answered: all.map(({ result }) =>
      result.outcome === 'value'),
    estimate: joined(({ outcome, estimate }) => (outcome === 'value' ? estimate : undefined)),
    ...interval('interval95'), ...interval('intervalIfFalse95'),
    findings: all.flatMap(({ result: { findings = [] } }, group) =>
      findings.map((finding) => ({ ...finding, group }))),
  };
}

function printOne({ group, result }: GroupResult, context: Context, output: Output): void {
  if (result.outcome === 'refused') {
    const whose = group === null ? '' : `group ${group} `;
    printWrapped(`${whose}refused: ${result.reason}: ${result.text}`, output);
    if (result.remedy !== undefined) printWrapped(`what helps: ${result.remedy}`, output);
    return;
  }
  if (group !== null) output.text(`group ${group}`);
  const { labels, columns } = result;
  printAnswer(result, { ...context, labels, columns }, output);
}

function printWrapped(text: string, output: Output): void {
  wrap(text, terminalColumns).forEach((line) => output.text(line));
}
