import { describe, expect, it } from 'vitest';
import { printAnswer } from '../../cli/base/answers.js';
import { labelsOfEach } from '../../cli/base/labels.js';
import { formatNumber, numberText, type Output } from '../../cli/base/output.js';
import { printAnswers } from '../../cli/base/questions.js';
import { printTotals } from '../../cli/base/series.js';
import { ReleaseSeries } from '../../client/index.js';
import { RunningSeries } from '../../src/series/running-sums.js';
import type { Answer } from '../../src/wire/messages.js';
import type { ReleaseBody, StudyDocument } from '../../src/wire/index.js';
import { answerTo, shippedStudies } from '../support/shipped-answers.js';
import { releaseBody } from '../support/wire-samples.js';

/** What a command prints: texts, and the first and the second cell of each row of a table. */
function recorder(): { readonly output: Output; readonly rows: (readonly string[])[] } {
  const rows: (readonly string[])[] = [];
  const output = {
    isJson: false, text: () => undefined, json: () => undefined, jsonLine: () => undefined,
    note: () => undefined,
    table: (_: readonly string[], all: readonly (readonly string[])[]) => void rows.push(...all),
  };
  return { output, rows };
}

describe('the digits of a number', () => {
  it('are those that its interval supports, and never too few to tell its ends apart', () => {
    expect(formatNumber(1_764_241_234_567)).toBe('1764241234567');
    expect(formatNumber(8.256789)).toBe('8.25679');
    expect(formatNumber(8.256789, 1.04)).toBe('8.3');
    expect(formatNumber(731.5, 16.3)).toBe('732');
    expect(formatNumber(1.23456789e-9, 2e-14)).toBe('1.234568e-9');
    expect(formatNumber(0)).toBe('0');
    expect(formatNumber(Infinity)).toBe('unbounded');
    const interval = { low: [1_764_241_200_000], high: [1_764_241_260_000] };
    expect(numberText(1_764_241_234_567.4, interval, 0)).toBe('1764241234567');
  });
});

it('a column name with a line break takes one line', () => {
  const { output, rows } = recorder();
  printAnswer({ estimate: [1, 2], shape: [2] },
    { columns: ['travel\ntime', 'cost'], parameters: {} }, output);
  expect(rows.map(([name]) => name)).toEqual(['"travel\\u{a}time"', 'cost']);
});

/** A release of a shipped study with several questions. */
function releaseOf(name: string): {
  readonly document: StudyDocument; readonly answers: readonly Answer[];
} {
  const { document, questions } = shippedStudies.find((each) => each.document.study === name)!;
  return { document, answers: questions.map((each) => {
    const outcome = answerTo(each);
    return {
      question: each.question.name, estimator: each.question.estimator, parameters: '{}',
      outcome: {
        ...outcome,
        uncertainty: { kind: 'gaussian', standardDeviation: outcome.estimate.map(() => 0.125) },
      },
      rhoAmount: 0n, deltaAmount: 0n,
    };
  }) };
}

describe('answers to several questions', () => {
  it('have the names of their own numbers in totals, not those of another question', () => {
    const { document, answers } = releaseOf('rides-questions');
    const log = { separate: new ReleaseSeries(1), running: new RunningSeries() };
    const release = { ...releaseBody, answers } as unknown as ReleaseBody;
    log.separate.take(release);
    const { output, rows } = recorder();
    printTotals(log, undefined, labelsOfEach(document), output);
    const names = rows.map(([name]) => name!);
    expect(names).toContain('delays: minutes');
    expect(names.slice(names.indexOf('spread: 5th percentile of minutes')).slice(0, 6)).toEqual([
      'spread: 5th percentile of minutes',
      'spread: 25th percentile of minutes',
      'spread: median of minutes',
      'spread: 75th percentile of minutes',
      'spread: 95th percentile of minutes',
      'spread: contributors below 0',
    ]);
    expect(names.join()).not.toContain('[');
  });

  it('keep a count of people apart from columns, whatever these are called', () => {
    const common = { where: [], reduce: 'mean', part: 30, parameters: {} };
    const document = {
      columns: ['time', 'travel\ntime'], contribution: { rowsMax: 1 }, questions: [
        { ...common, name: 'people', estimator: 'count', columns: [] },
        { ...common, name: 'when', estimator: 'mean', columns: ['time'] },
        { ...common, name: 'how-long', estimator: 'mean', columns: ['travel\ntime'] },
      ],
    } as unknown as StudyDocument;
    const answers = document.questions.map(({ name, estimator }, i) => ({
      question: name, estimator, parameters: '{}', rhoAmount: 0n, deltaAmount: 0n,
      outcome: {
        kind: 'value', estimate: [i], shape: [1],
        uncertainty: { kind: 'gaussian', standardDeviation: [0.125] },
      },
    }));
    const series = new ReleaseSeries(1);
    series.take({ ...releaseBody, answers } as unknown as ReleaseBody);
    const { output, rows } = recorder();
    printTotals({ separate: series, running: new RunningSeries() }, undefined,
      labelsOfEach(document), output);
    expect(rows.map(([name]) => name))
      .toEqual(['people: contributors', 'when: time', 'how-long: "travel\\u{a}time"']);
  });

  const names = shippedStudies.map(({ document }) => document.study);
  it.each(names)('of %s name each number', (study) => {
    const { document, answers } = releaseOf(study);
    const { output, rows } = recorder();
    printAnswers(answers, document, output);
    const names = rows.map(([name]) => name!);
    expect(names.length).toBeGreaterThan(0);
    expect(names.join()).not.toMatch(/\[\d/);
    const shown = new Set(rows.map(([, value]) => value!));
    const released = answers.flatMap(({ outcome }) => (outcome.kind === 'value'
      ? outcome.estimate.map((value, i) => numberText(value, outcome.interval95, i)) : []));
    expect([...shown].filter((value) => !released.includes(value))).toEqual([]);
  });

  it('name the quantiles of each key', () => {
    const { output, rows } = recorder();
    const document = {
      columns: ['minutes', 'region'], contribution: { rowsMax: 64 }, questions: [{
        name: 'spread', estimator: 'quantile', columns: ['minutes'], where: [], reduce: 'one',
        part: 100, parameters: { range: [0, 10], probabilities: [0.5, 0.9] },
        by: { columns: ['region'], groupsMax: 1 },
      }],
    } as unknown as StudyDocument;
    const outcome = {
      kind: 'value', estimate: [1, 2, 3, 4], shape: [2, 2], groups: [['north'], ['south']],
      uncertainty: { kind: 'none' },
    };
    printAnswers([{ question: 'spread', estimator: 'quantile', outcome } as unknown as Answer],
      document, output);
    expect(rows.map(([name]) => name)).toEqual([
      '"north" median of minutes',
      '"north" 90th percentile of minutes',
      '"south" median of minutes',
      '"south" 90th percentile of minutes',
    ]);
  });
});
