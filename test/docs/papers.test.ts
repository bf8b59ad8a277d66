import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { forms, samples } from '../compliance/samples.js';
import type { ComplianceSample } from '../../src/kit/sample.js';
import { dataSource } from '../support/data.js';
import { factsOf, releaseOf } from '../support/offline.js';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/papers.md`, 'utf8');
const papers = ['KSU20', 'LKKO21', 'AL22', 'KMV22', 'AMN24'];

describe('the page of the papers', () => {
  const citing = estimators.filter(({ citations }) =>
    citations.some(({ key }) => papers.includes(key)));

  it.each(citing)('says which theorem holds for $name', ({ name }) => {
    expect(page).toContain(`\`${name}\``);
  });

  it('has a section for each paper, and one for all algorithms', () => {
    expect(page.match(/^## /gm)).toHaveLength(papers.length + 1);
  });
});

/** A line of the table of algorithms. */
interface Line {
  readonly paper: string;
  readonly algorithms: string;
  readonly runs: string;
  readonly how: string;
}

const cellsOf = (text: string): string[][] => text.split('\n')
  .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
  .filter(([paper]) => papers.includes(paper!));
const [table, reasons] = page.split('\n## Every algorithm\n')[1]!.split('\nWhy the others ')
  .map(cellsOf);
const lines = table!
  .map(([paper, algorithms, , runs, how]): Line =>
    ({ paper: paper!, algorithms: algorithms!, runs: runs!, how: how! }));
const running = lines.filter(({ how }) => how !== 'missing');

interface Run {
  readonly name: string;
  readonly given: Readonly<Record<string, string>>;
  readonly sample: ComplianceSample;
}

/** What a line says runs it, on the rows of the sample of that variant, if there is one. */
function runOf({ runs }: Line): Run {
  const [name, ...settings] = [...runs.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
  const given = Object.fromEntries(settings.map((text) => text.split(': '))) as Run['given'];
  const own = forms.find(([of, { parameters }]) => of === name && 'variant' in given
    && Object.entries(given).every(([key, value]) => String(parameters[key]) === value));
  return { name: name!, given, sample: own?.[1] ?? samples[name!]! };
}

/** The plan of the smallest cohort that the estimator asks for, from that of the sample on. */
function planOf({ name, given, sample }: Run): { readonly plan: Plan; readonly cohort: number } {
  const { dimension } = sample;
  const estimator = findEstimator(name);
  const raw = { ...sample.parameters, ...given };
  for (let { cohort } = sample; ;) {
    const facts = factsOf(dimension, cohort, 8);
    const plan = estimator.plan(parseParameters(estimator.parameters, raw, { dimension }), facts);
    if (plan.kind === 'plan') return { plan, cohort };
    if ((plan.cohortNeeded ?? 0) <= cohort) throw new Error(`${plan.reason}: ${plan.remedy}`);
    cohort = plan.cohortNeeded!;
  }
}

describe('the table of all algorithms', () => {
  it('has every paper, and says of each line whether it runs', () => {
    expect(new Set(lines.map(({ paper }) => paper))).toEqual(new Set(papers));
    for (const { runs, how } of lines) {
      expect(how).toMatch(/^(as printed|changed|missing)/);
      expect(runs.startsWith('none: '), runs).toBe(how === 'missing');
    }
    const named = lines.map(({ paper, algorithms }) =>
      algorithms.split(', ').map((one) => `${paper} ${one}`)).flat();
    expect(new Set(named).size).toBe(named.length);
  });

  it('has a reason for each algorithm that is not run as printed', () => {
    const nameOf = (paper: string, algorithms: string): string => `${paper} ${algorithms}`;
    expect(reasons!.map(([paper, algorithms]) => nameOf(paper!, algorithms!))).toEqual(lines
      .filter(({ how }) => !how.startsWith('as printed'))
      .map(({ paper, algorithms }) => nameOf(paper, algorithms)));
    for (const [, , reason] of reasons!) expect(reason).toMatch(/^[A-Z].*\.$/);
  });

  it('has estimators that cite the paper', () => {
    for (const line of running) {
      const { citations } = findEstimator(runOf(line).name);
      expect(citations.map(({ key }) => key), line.runs).toContain(line.paper);
    }
  });

  const runs = new Map(running.map((line) => [line.runs, line]));
  it.each([...runs])('runs %s', { tags: ['long'] }, async (_, line) => {
    const run = runOf(line);
    const { plan, cohort } = planOf(run);
    const data = dataSource(line.runs);
    const rows = Array.from({ length: cohort }, () => run.sample.honest(data));
    const outcome = await releaseOf(plan, run.sample.dimension, rows, line.runs);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    expect(outcome.estimate.every(Number.isFinite)).toBe(true);
  });
});
