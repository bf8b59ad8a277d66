import { ReleaseSeries, subscribe, type VerifiedRelease } from '../../client/index.js';
import { findingText, partsByName } from '../../client/words.js';
import { toHex } from '../../src/base/bytes.js';
import { shownInterval } from '../../src/answers/intervals.js';
import { ifFalseText } from '../../src/base/findings.js';
import { noiseDeviations } from '../../src/base/noise-deviations.js';
import type { Question } from '../../src/base/questions.js';
import { runningText } from '../../src/base/running-totals.js';
import { deviations95 } from '../../src/numerics/normal.js';
import type { Answer } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { aggregatorArgument, aggregatorUrl } from '../base/address.js';
import { distributionRows, honestHead, intervalText, printFindings } from '../base/answers.js';
import { defineCommand } from '../base/command.js';
import { publicKeyFlag } from '../base/keys.js';
import { describedQuestion } from '../../src/answers/describe.js';
import { labelsOf, labelsOfEach } from '../base/labels.js';
import { tablesOf } from '../base/matrices.js';
import { numberFlag } from '../base/numbers.js';
import { terminalColumns } from '../base/io.js';
import { formatNumber, lineText, numberText, type Output } from '../base/output.js';
import { answersJson, askedText, printAnswers } from '../base/questions.js';
import { seriesFaults, smoothedJson, smoothedRows } from '../base/series.js';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Follow a study\'s releases, each verified, as a table or JSON lines.',
  details: [
    'It checks every release\'s signature and its place in the chain. If a check fails, the '
    + 'command ends with status 2. It reconnects automatically after a lost connection, and ends '
    + 'when the study does.',
  ],
  args: {
    url: aggregatorArgument,
    study: {
      type: 'string', required: true, valueHint: 'study', description: 'name or id of the study',
    },
    from: {
      type: 'string', valueHint: 'index',
      description: 'first release wanted, from 0 (default 0: the whole log)',
    },
    count: { type: 'string', valueHint: 'n', description: 'end after this many releases' },
    smooth: {
      type: 'boolean',
      description: 'also show each number smoothed over the releases so far, with the smaller '
        + 'standard deviation that this gives; it is derived from published answers, so it costs '
        + 'no privacy',
    },
    'server-key': {
      type: 'string', valueHint: 'key',
      description: 'public key of the only aggregator to trust, 64 hexadecimal digits',
    },
  },
  examples: [
    'keelson watch ws://127.0.0.1:8787 --study flight-delays',
    'keelson watch ws://127.0.0.1:8787 --study flight-delays --smooth',
    'keelson watch ws://127.0.0.1:8787 --study flight-delays --json',
  ],
  stopsGently: true,
  async run({ args, io, output }) {
    const from = numberFlag(args.from, '--from', { whole: true, atLeast: 0 });
    const count = numberFlag(args.count, '--count', { whole: true, atLeast: 1 }) ?? Infinity;
    const subscription = subscribe({
      url: aggregatorUrl(args.url), study: args.study, signal: io.interrupted,
      ...(from !== undefined && { from: BigInt(from) }),
      ...(args['server-key'] !== undefined
        && { serverKey: publicKeyFlag(args['server-key'], '--server-key') }),
    });
    subscription.onReconnecting((reason, retryInMs) => {
      output.note(`not connected (${reason}); trying again in ${(retryInMs / 1000).toFixed(1)} s`);
    });
    subscription.onVia((via, reason) => {
      output.note(via === 'http'
        ? `releases come over HTTP (${reason})` : `releases come over a WebSocket (${reason})`);
    });
    // Only the newest smoothed number is shown.
    const series = args.smooth === true ? new ReleaseSeries(1) : null;
    let seen = 0;
    for await (const release of subscription) {
      if (seen === 0) describeStudy(release, output);
      series?.take(release.release);
      show(release, series, output);
      if (++seen >= count) return 0;
    }
    const state = subscription.head?.state;
    if (state !== undefined && state !== 'open') {
      output.jsonLine({
        type: 'end', study: args.study, state, releases: subscription.head?.count,
      });
      output.text(state === 'exhausted'
        ? 'the study\'s privacy budget is used up: this was its last release'
        : 'the study was ended by its operator');
    }
    return 0;
  },
});

function describeStudy({ release, document, serverKey }: VerifiedRelease, output: Output): void {
  const { budget, privacy } = document;
  output.text(`study       ${release.study}`);
  if (document.title !== undefined) output.text(`title       ${document.title}`);
  if (document.description !== undefined) output.text(`about       ${document.description}`);
  output.text(`study id    ${toHex(release.studyId)}`);
  output.text(document.wireForm === 'short'
    ? `estimator   ${askedText(document)} over ${document.columns.map(lineText).join(', ')}`
    : `questions   ${askedText(document)}`);
  for (const text of columnTexts(document)) output.text(`column      ${text}`);
  output.text(`privacy     epsilon ${privacy.epsilon} per release of ${budget.epsilon} in all, `
    + `delta ${budget.delta}`);
  output.text(`presence    ${release.participation}`);
  output.text(`server key  ${serverKey}`);
  output.text();
  if (document.wireForm === 'short') {
    output.text(line('epoch', 'value', 'estimate', 'noise sd', 'epsilon spent'));
  }
}

/** The study's words for its columns: `delay: Departure delay, in minutes`. */
function columnTexts({ columns, columnWords = [] }: StudyDocument): readonly string[] {
  return columns.flatMap((name, i) => {
    const { label, unit, format } = columnWords[i] ?? {};
    const said = [
      ...(label === undefined ? [] : [label]), ...(unit === undefined ? [] : [`in ${unit}`]),
      ...(format === 'percent' ? ['a share: 1 is 100 %'] : []),
    ];
    return said.length === 0 ? [] : [`${lineText(name)}: ${said.join(', ')}`];
  });
}

function show(verified: VerifiedRelease, series: ReleaseSeries | null, output: Output): void {
  const { document } = verified;
  const more = series === null ? {} : { smoothed: smoothedJson(series) };
  if (document.wireForm === 'short') showAnswer(verified, more, output);
  else showAnswers(verified, more, output);
  if (series === null) return;
  for (const [name, value, deviation] of smoothedRows(series, labelsOfEach(document))) {
    output.text(line('', `smoothed ${name}`, value, deviation, ''));
  }
  for (const text of seriesFaults(series)) output.text(`${' '.repeat(8)}${text}`);
}

/** Shows the answers to questions that have names. @param more further fields of --json. */
function showAnswers(
  { release, document }: VerifiedRelease, more: Readonly<Record<string, unknown>>, output: Output,
): void {
  const { ledger, study, epoch, index } = release;
  const { answers } = release;
  output.jsonLine({
    type: 'release', study, epoch, index,
    questions: answersJson(answers, document), ...more,
    epsilonSpent: ledger.epsilonSpent, epsilonCap: ledger.epsilonCap,
  });
  output.text(`epoch ${epoch}, epsilon spent ${shownSpent(ledger)}`);
  printAnswers(answers, document, output);
  output.text();
}

/** @param more further fields of --json. */
function showAnswer(
  { release, document }: VerifiedRelease, more: Readonly<Record<string, unknown>>, output: Output,
): void {
  const [{ outcome }] = release.answers as [Answer];
  const { ledger, study, epoch, index, columns } = release;
  const [asked] = document.questions as [Question];
  const labels = labelsOf(describedQuestion(asked, document));
  const spent = { epsilonSpent: ledger.epsilonSpent, epsilonCap: ledger.epsilonCap };
  const facts =
    { type: 'release', study, epoch, index, columns, labels, outcome: outcome.kind, ...more };
  if (outcome.kind === 'refused') {
    const { reason, text } = outcome;
    output.jsonLine({ ...facts, reason, text, ...spent });
    output.text(line(String(epoch), `refused: ${reason}`, '', '', shownSpent(ledger)));
    for (const part of wrapped(text, terminalColumns - 8)) output.text(`${' '.repeat(8)}${part}`);
    return;
  }
  const { estimate, shape, uncertainty, interval95, intervalIfFalse95, parts } = outcome;
  const { radiusIfFalse95, spread, running } = outcome;
  const findings = outcome.findings?.map((finding) =>
    ({ ...finding, text: findingText(finding, columns) }));
  output.jsonLine({
    ...partsByName(outcome), ...facts, estimate, shape, parts, uncertainty, interval95,
    intervalIfFalse95, radiusIfFalse95, spread, findings, running, ...spent,
  });
  const distribution = distributionRows(outcome, labels);
  if (parts !== undefined) {
    output.text(
      line(String(epoch), parts.map(({ name }) => name).join(', '), '', '', shownSpent(ledger)),
    );
    if (distribution !== null) output.table(['', 'estimate', '95 % interval'], distribution);
    else tablesOf(outcome, columns).forEach(({ heads, rows }) => output.table(heads, rows));
    printFindings(findings, columns, output);
    return;
  }
  const names = labels.length === estimate.length ? labels : [];
  const noise = noiseDeviations(uncertainty) ?? [];
  const shown = shownInterval(outcome);
  estimate.forEach((value, i) => {
    const half = noise[i] === undefined ? null : deviations95 * noise[i];
    const deviation = half === null ? '' : formatNumber(noise[i]!, half);
    const [first, last] = i === 0 ? [String(epoch), shownSpent(ledger)] : ['', ''];
    const text = shown === undefined ? formatNumber(value, half) : numberText(value, shown, i);
    output.text(line(first, lineText(names[i] ?? `[${i}]`), text, deviation, last));
    if (intervalIfFalse95 === undefined) return;
    output.text(`${' '.repeat(8)}95 % interval ${intervalText(shown, i)}, `
      + `${ifFalseText(asked.parameters)}`);
    output.text(`${' '.repeat(8)}${honestHead}: ${intervalText(interval95, i) || 'not stated'}`);
  });
  if (running !== undefined) output.text(`${' '.repeat(8)}${runningText(running)}`);
  printFindings(findings, columns, output);
}

function shownSpent({ epsilonSpent, epsilonCap }: VerifiedRelease['release']['ledger']): string {
  return `${epsilonSpent.toFixed(3)} of ${epsilonCap}`;
}

function line(epoch: string, name: string, estimate: string, noise: string, spent: string): string {
  return `${epoch.padStart(6)}  ${name.padEnd(22)} ${estimate.padStart(12)} ${noise.padStart(10)}   ${spent}`
    .trimEnd();
}

/** Breaks a text into lines of at most `width` characters. A longer word gets a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
