import type { ParameterValues } from '../../src/estimators/contract/estimator.js';
import { numberNames, type AnswerContext } from '../base/answers.js';
import { lineText } from '../base/output.js';
import type { EstimateResult } from './estimation.js';
import type { PageAnswer } from './html.js';
import { splitOf, type GroupResult } from './print.js';

type Asked = Pick<AnswerContext, 'texts'> & { readonly parameters: ParameterValues };

/** A result that a page can show; that of a study's question may be split by groups. */
type Shown = Pick<
  EstimateResult, 'outcome' | 'text' | 'remedy' | 'estimate' | 'shape' | 'columns' | 'labels'
  | 'interval95' | 'intervalIfFalse95' | 'findings'
> & {
  readonly groups?: readonly (string | readonly string[])[];
  readonly answered?: readonly boolean[];
};

/** The title of a page about one question, such as `median of delay by carrier`. */
export function titleOf(
  estimator: string, columns: readonly string[], group: string | undefined,
): string {
  const about = columns.map(lineText).join(', ');
  return `${estimator}${about === '' ? '' : ` of ${about}`}`
    + (group === undefined ? '' : ` by ${lineText(group)}`);
}

/** One result as a section of a page. Groups without an answer are left out. */
export function pageAnswerOf(
  heading: string, result: Shown, { texts, parameters }: Asked, notes: readonly string[] = [],
): PageAnswer {
  const { outcome, text, remedy, estimate, columns, groups, findings = [] } = result;
  const { labels = columns } = result;
  const size = groups === undefined ? estimate.length : estimate.length / groups.length;
  const names = groups?.flatMap((group) => Array.from({ length: size }, (_, i) =>
    [...[group].flat(), ...(size === 1 ? [] : [labels[i] ?? `[${i}]`])].join(', ')))
    ?? numberNames(result, labels, columns);
  const kept = estimate.map((_, i) => i)
    .filter((i) => result.answered?.[Math.floor(i / size)] !== false);
  const of = <T>(list: readonly T[]): readonly T[] => kept.map((i) => list[i]!);
  const interval = (name: 'interval95' | 'intervalIfFalse95'): Pick<PageAnswer, typeof name> => {
    const given = result[name];
    return given && { [name]: { low: of(given.low), high: of(given.high) } } || {};
  };
  return {
    heading, parameters, names: of(names), estimate: of(estimate),
    refusal: outcome === 'value' ? null
      : [text, ...(remedy === undefined ? [] : [`What helps: ${remedy}`])].join('. '),
    ...(texts && { texts: kept.map((i) => texts[i % size]) }),
    ...interval('interval95'), ...interval('intervalIfFalse95'),
    isOneUnit: columns.length <= 1 || (groups !== undefined && size === 1),
    notes: [...findings.map((finding) => finding.text), ...notes],
  };
}

/** The results of one run: a section for all groups where they are one table, else one for each. */
export function pageAnswers(
  all: readonly GroupResult[], heading: string, asked: Asked,
): readonly PageAnswer[] {
  const split = splitOf(all);
  if (split === null) {
    return all.map(({ group, result }) =>
      pageAnswerOf(group === null ? heading : `${heading}: ${group}`, result, asked));
  }
  const { result } = all.find((each) => each.result.outcome === 'value')!;
  const refused = all.filter((each) => each.result.outcome === 'refused')
    .map((each) => `${each.group!} has no answer: ${each.result.text}`);
  const findings = all.flatMap((each) => (each.result.findings ?? []).map(({ text, ...rest }) =>
    ({ ...rest, text: `${each.group!}: ${text}` })));
  const groups = split.keys.map(([group]) => group!);
  return [pageAnswerOf(heading, { ...result, ...split, groups, findings }, asked, refused)];
}
