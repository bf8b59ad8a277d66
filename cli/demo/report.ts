import { durationText } from '../../server/studies/release/guarantee.js';
import { formatNumber, type Output } from '../base/output.js';
import { answersJson } from '../base/questions.js';
import { answerLines, answersSummaryLine, questionsLines } from './answers.js';
import type { Answers, Score, Shown, StudySummary } from './scoreboard.js';
import { askedLines, storyLines, type StoryFacts } from './story.js';

/** The settings that the demonstration prints before it starts. */
export interface DemoPlan extends StoryFacts {
  /** The data folder, which is removed at the end. */
  readonly folder: string;
  readonly epochMs: number;
}

/** The results of a run. */
export interface RunFacts {
  readonly epochs: number;
  /** Epochs that were charged but not shown, because no row came in time. */
  readonly lostEpochs: number;
  readonly serverKey: string;
  /** Paths of the release logs. */
  readonly logs: readonly string[];
}

/**
 * Prints the demonstration while it runs: a table for people, or JSON lines. No line is longer than
 * 80 columns, except for addresses, paths and keys.
 */
export interface DemoReport {
  started(plan: DemoPlan): void;
  /** Everybody is connected, and the first epoch opens. */
  ready(seconds: number): void;
  /** One epoch: a release of each study. */
  round(shown: readonly Shown[]): void;
  summary(summaries: readonly StudySummary[], facts: RunFacts): void;
  /** All epochs were shown, and the run continues. */
  kept(): void;
}

const widths = { epoch: 5, study: 14, release: 13, truth: 13, error: 6 } as const;
const rule = '-'.repeat(79);
/** Column at which the epsilon that is spent begins. */
const epsilonAt = line('', '', '', '', '', '', '-').length - 1;

/** @param insecure the noise is repeatable. Every JSON line then states this. */
export function createReport(output: Output, insecure: boolean): DemoReport {
  const mark = insecure ? { insecure: true } : {};
  let rounds = 0;
  let plan: DemoPlan;
  let seconds = '';
  return {
    started(given) {
      plan = given;
      const { address, folder, operatorToken, contributors, epochMs } = plan;
      seconds = formatNumber(epochMs / 1000);
      output.jsonLine({
        type: 'started', dashboard: address, data: folder, operatorToken, contributors,
        epochSeconds: epochMs / 1000, ...mark,
      });
      describe(plan, output);
    },
    ready(after) {
      output.jsonLine({ type: 'connected', seconds: after, ...mark });
      output.text(
        `everybody is connected after ${after.toFixed(1)} s; answers come every ${seconds} s`,
      );
    },
    round(shown) {
      for (const each of shown) output.jsonLine({ type: 'release', ...jsonOf(each), ...mark });
      if (rounds++ === 0) head(output);
      else output.text();
      shown.forEach((each, i) => {
        if (!('answers' in each)) output.text(scoreLine(each, i === 0));
        else for (const text of answersLines(each, i === 0)) output.text(text);
      });
      if (rounds > 1) return;
      for (const text of ['', ...storyLines(plan, shown)]) output.text(text);
    },
    summary(summaries, facts) {
      output.jsonLine({ type: 'summary', studies: summaries, ...facts, ...mark });
      if (rounds > 0) output.text(rule);
      for (const summary of summaries) output.text(summaryLine(summary));
      lost(facts.lostEpochs, output);
      output.text();
      output.text('check the releases yourself:');
      for (const log of facts.logs) {
        output.text(`  npx keelson verify ${log} \\\n  --server-key ${facts.serverKey}`);
      }
    },
    kept() {
      output.text();
      output.text('the dashboard stays, and people go on sending: Ctrl-C ends it');
    },
  };
}

function describe(plan: DemoPlan, output: Output): void {
  const { address, folder, operatorToken, studies, pages, corruption, epochMs } = plan;
  const seconds = formatNumber(epochMs / 1000);
  output.text(`dashboard at ${address}/ for as long as this runs`);
  output.text(`data folder ${folder}`);
  output.text(`operator token in ${operatorToken}`);
  for (const text of ['', ...askedLines(plan)]) output.text(text);
  output.text(`Three studies ask everybody, and each epoch of ${seconds} s has an answer:`);
  for (const definition of studies) {
    const { document, questions: [{ plan: promise }] } = definition;
    if (document.wireForm === undefined) {
      questionsLines(definition, pages.get(document.study)!).forEach((each) => output.text(each));
      continue;
    }
    // From public numbers only, before any row.
    const promised = promise.expectedError(corruption).total.toFixed(2);
    output.text(`  ${document.study.padEnd(widths.study)} epsilon ${document.privacy.epsilon} per `
      + `release; expected error ${promised} spreads`);
  }
  const { document: { budget }, releases } = studies[0]!;
  output.text(`  each has a budget of epsilon ${budget.epsilon} for ${releases} releases`
    + (budget.perMs === undefined ? '' : ` in any ${durationText(budget.perMs)}: it renews`));
}

function head(output: Output): void {
  output.text();
  output.text(line('epoch', 'study', 'release', 'honest mean', 'error', 'naive', 'epsilon'));
  output.text(line('', '', 'min, miles', 'min, miles', 'in', 'spreads', 'spent'));
  output.text(rule);
}

/**
 * A release in the form of --json. The answers of several questions have the form that `watch`
 * prints.
 */
function jsonOf(shown: Shown): object {
  if (!('answers' in shown)) return shown;
  const { answers, document, study, epoch, honest, plannedErrors, ...counts } = shown;
  const questions = Object.entries(answersJson(answers, document)).map(
    ([name, answer], i) =>
      [name, { ...(answer as object), honest: honest[i], plannedError: plannedErrors[i] }]);
  return { study, epoch, questions: Object.fromEntries(questions) as unknown, ...counts };
}

function answersLines(answers: Answers, isFirst: boolean): readonly string[] {
  const { epoch, study, answers: { length }, contributors } = answers;
  const given = answers.answers.filter(({ outcome }) => outcome.kind === 'value').length;
  const count = given === length ? `${length}` : `${given} of ${length}`;
  const words = `${count} answers to ${contributors} contributions`;
  const before = `${(isFirst ? String(epoch) : '').padStart(widths.epoch)} `
    + `${study.padEnd(widths.study)} ${words}`;
  return [`${before.padEnd(epsilonAt)}${spentText(answers)}`, ...answerLines(answers)];
}

function scoreLine(score: Score, isFirst: boolean): string {
  const { estimate, error, naiveError } = score;
  return line(
    isFirst ? String(score.epoch) : '', score.study,
    estimate === null ? 'refused' : vector(estimate), vector(score.truth),
    error === null ? '-' : error.toFixed(3), naiveError.toFixed(3),
    spentText(score),
  ) + (score.reason === undefined
    ? '' : `\n${' '.repeat(widths.epoch + 1)}(refused: ${score.reason})`);
}

function spentText({ epsilonSpent, epsilonLeft }: Shown): string {
  return `${epsilonSpent.toFixed(2)} of ${(epsilonSpent + epsilonLeft).toFixed(2)}`;
}

function summaryLine(summary: StudySummary): string {
  if ('questions' in summary) return answersSummaryLine(summary);
  const { study, releases, medianError, medianNaiveError, alwaysCloser, refused } = summary;
  const name = study.padEnd(widths.study);
  if (releases === 0) return `${name} nothing to show yet`;
  const error = medianError === null ? '-' : medianError.toFixed(3);
  return `${name} median error ${error} spreads, naive ${medianNaiveError.toFixed(3)}: `
    + verdict(alwaysCloser, refused, medianNaiveError);
}

function verdict(alwaysCloser: boolean, refused: number, naiveError: number): string {
  if (refused > 0) return `${refused} refused`;
  if (naiveError === 0) return 'no hostile row got in';
  return alwaysCloser ? 'closer in every epoch' : 'not closer in each epoch';
}

function lost(epochs: number, output: Output): void {
  if (epochs === 0) return;
  output.text(`${epochs === 1 ? '1 epoch was' : `${epochs} epochs were`} charged and not shown: `
    + `nobody's rows came in time.`);
  output.text('Fewer people (--contributors) or longer epochs (--every) suit this machine.');
}

function vector(values: readonly number[]): string {
  return values.map((value) => value.toFixed(Math.abs(value) < 100 ? 2 : 1)).join(', ');
}

type Cells = readonly [
  epoch: string, study: string, release: string, truth: string, error: string, naive: string,
  epsilon: string,
];

function line(...[epoch, study, release, truth, error, naive, epsilon]: Cells): string {
  return [
    epoch.padStart(widths.epoch), study.padEnd(widths.study),
    release.padEnd(widths.release), truth.padEnd(widths.truth),
    error.padStart(widths.error), naive.padStart(widths.error), ` ${epsilon}`,
  ].join(' ').trimEnd();
}
