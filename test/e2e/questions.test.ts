import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { keyedOf } from '../../dashboard/base/keys.js';
import { chartsMax, History, questionsAsked, type StudyEntry } from '../../dashboard/base/model.js';
import { numbersOf } from '../../dashboard/base/numbers.js';
import { fromHex } from '../../src/base/bytes.js';
import { decodeLogLine } from '../../src/log/index.js';
import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Stage, type JsonLine, type Served } from '../support/live-command.js';

/** Half ride in the north; the middle of their minutes is 60, in the south 30. */
const people = 300;
const rideOf = (i: number): { minutes: number; stops: number; late: boolean; region: string } =>
  ({
    minutes: (i % 2 === 0 ? 50 : 20) + (i % 21), stops: 1 + i % 6, late: i % 4 === 0,
    region: i % 2 === 0 ? 'north' : 'south',
  });

const names = [
  'late-people', 'regions', 'minutes-by-region', 'typical-by-region', 'time', 'late-share',
  'per-stop', 'spread', 'middle', 'stops',
] as const;
const study = `study: ten
columns:
  minutes: { type: number, low: 0, high: 240 }
  stops: { type: integer, low: 0, high: 20 }
  late: boolean
  region: { type: category, of: [north, south] }
cohort: ${people}
participation: public
epoch: { contributors: ${people} }
contribution: { rowsMax: 8 }
questions:
  late-people: { estimator: count, where: { late: true } }
  regions: { estimator: count, by: { column: region, groupsMax: 1 } }
  minutes-by-region: { estimator: mean, columns: [minutes],
    by: { column: region, groupsMax: 1 }, parameters: { range: 0..240 } }
  typical-by-region: { estimator: robust-mean, columns: [minutes],
    by: { column: region, groupsMax: 1 }, part: 40,
    parameters: { spread: 20, corruption: 0.01, range: 0..240 } }
  time: { estimator: sum, columns: [minutes] }
  late-share: { estimator: share, columns: [late], reduce: one }
  per-stop: { estimator: ratio, columns: [minutes, stops], parameters: { cap: [240, 20] } }
  spread: { estimator: distribution, columns: [minutes] }
  middle: { estimator: quantile, columns: [minutes],
    parameters: { probabilities: [0.5], range: 0..240 } }
  stops: { estimator: histogram, columns: [stops], parameters: { edges: [2, 5] } }
privacy: { epsilon: 60, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-5, scope: study }
`;

interface Shown {
  readonly outcome: string;
  readonly estimate: readonly number[];
  readonly groups?: readonly (readonly string[])[];
  readonly labels?: readonly string[];
  readonly findings?: readonly object[];
  readonly rhoAmount: string;
  readonly deltaAmount: string;
}
type ShownByName = Readonly<Record<string, Shown>>;
/** What `verify --totals` adds. */
type Totals = readonly {
  readonly question: string;
  readonly numbers: readonly {
    readonly place: number; readonly total: { readonly value: number };
  }[];
}[];

const stage = new Stage();
let served: Served;
let watched: JsonLine;
let log = '';

beforeAll(async () => {
  served = await stage.serve([stage.write('ten.yaml', study)]);
  const { url, serverKey } = served;
  const watch = stage.start(['watch', url, '--study', 'ten', '--server-key', serverKey, '--json']);
  const crowd = Array.from({ length: people }, async (_, i) => {
    const seed = new Uint8Array(32).fill(1);
    new DataView(seed.buffer).setUint32(0, i);
    const contributor =
      createContributor({ url, study: 'ten', seed, serverKey: fromHex(serverKey) });
    const settled = await contributor.contribute([rideOf(i)]);
    await contributor.close();
    return settled.kind;
  });
  expect(new Set(await Promise.all(crowd))).toEqual(new Set(['accepted']));
  watched = await watch.line(({ type }) => type === 'release');
  log = await (await fetch(`${served.address}/v1/releases?study=ten`)).text();
});
afterAll(() => stage.end());

/** The first release of the log, as its bytes say. */
function releasedAnswers() {
  for (const text of log.trimEnd().split('\n')) {
    const line = decodeLogLine(text);
    if (line.type === 'release') return decodeReleaseBody(line.body);
  }
  throw new Error('the log has no release');
}

describe('one contribution', () => {
  it('answers ten questions live', () => {
    const questions = watched['questions'] as ShownByName;
    expect(Object.keys(questions)).toEqual(names);
    const near = (name: string, truth: readonly number[], within: number): void => {
      const { outcome, estimate } = questions[name]!;
      expect([name, outcome]).toEqual([name, 'value']);
      truth.forEach((value, i) =>
        expect(Math.abs(estimate[i]! - value), `${name} ${i}: ${estimate[i]}`)
          .toBeLessThan(within));
    };
    near('late-people', [75], 15);
    near('regions', [150, 150], 15);
    near('minutes-by-region', [60, 30], 20);
    near('typical-by-region', [60, 30], 10);
    near('time', [people * 45], 4_000);
    near('late-share', [0.25], 0.1);
    near('per-stop', [45 / 3.5], 4);
    near('middle', [45], 20);
    near('stops', [50, 150, 100], 15);
    expect(questions['regions']!.groups).toEqual([['north'], ['south']]);
    expect(questions['spread']!.outcome).toBe('value');
  });

  it('has the same answers in every place, to the last digit', async () => {
    const { stdout, status } = await stage.run([
      'verify', stage.write('ten.log', log), '--server-key', served.serverKey, '--totals', '--json',
    ]);
    expect(status).toBe(0);
    const { lastAnswers, authentic, series } = JSON.parse(stdout) as {
      readonly lastAnswers: ShownByName; readonly authentic: boolean; readonly series: Totals;
    };
    expect(authentic).toBe(true);
    expect(Object.keys(lastAnswers)).toEqual(names);
    for (const { question, outcome, rhoAmount, deltaAmount } of releasedAnswers().answers) {
      const charge = { rhoAmount: String(rhoAmount), deltaAmount: String(deltaAmount) };
      if (outcome.kind !== 'value') throw new Error(`${question} has no answer`);
      const { kind, findings, ...value } = JSON.parse(JSON.stringify(outcome)) as typeof outcome;
      for (const shown of [lastAnswers, watched['questions'] as ShownByName]) {
        expect(shown[question]).toMatchObject({ outcome: kind, ...value, ...charge });
        expect((shown[question]!.findings ?? []).length).toBe(findings?.length ?? 0);
        // Each number has a name, or none has.
        const { labels, estimate } = shown[question]!;
        if (labels !== undefined) expect(labels.length).toBe(estimate.length);
      }
    }
    // The total of one release is its answer, where the noise is Gaussian.
    for (const { question, numbers } of series) {
      const { estimate } = (watched['questions'] as ShownByName)[question]!;
      numbers.forEach(({ place, total }) => expect(total.value, question).toBe(estimate[place]));
    }
    expect(series.flatMap(({ question, numbers }) => (numbers.length > 0 ? [question] : [])))
      .toEqual(expect.arrayContaining(['late-people', 'regions', 'time', 'stops']));
  });

  it('has the same answers on the dashboard, for each question', async () => {
    const { studies } = await (await fetch(`${served.address}/v1/studies`)).json() as {
      readonly studies: readonly StudyEntry[];
    };
    const release = releasedAnswers();
    const asked = questionsAsked(studies[0]!);
    expect(asked.map(({ name }) => name)).toEqual(names);
    asked.forEach((question, i) => {
      const places = (outcome: Parameters<typeof numbersOf>[1]): readonly number[] =>
        numbersOf(question, outcome).map(({ place }) => place);
      const history = new History(undefined, places, i);
      history.take(release);
      const { outcome } = history.lastValue!;
      const { estimate, groups } = (watched['questions'] as ShownByName)[question.name]!;
      expect(outcome.estimate).toEqual(estimate);
      places(outcome).slice(0, chartsMax).forEach((place, line) =>
        expect(history.at(line, 0).value, question.name).toBe(estimate[place]));
      const rows = keyedOf(question, outcome)?.rows;
      expect(rows?.flatMap(({ values }) => values)).toEqual(groups && estimate);
      expect(rows?.map(({ parts }) => parts)).toEqual(groups);
    });
  });

  it('costs what the ledger says: the charges of its answers', async () => {
    const { cost, ledger } = releasedAnswers();
    const sumOf = (of: 'rhoAmount' | 'deltaAmount'): bigint =>
      releasedAnswers().answers.reduce((sum, answer) => sum + answer[of], 0n);
    expect([sumOf('rhoAmount'), sumOf('deltaAmount')])
      .toEqual([cost.rhoAmount, cost.deltaAmount]);
    expect([ledger.rhoSpent, ledger.deltaSpent]).toEqual([cost.rhoAmount, cost.deltaAmount]);
    const page = await (await fetch(`${served.address}/v1/ledger`)).json() as {
      readonly budgets: readonly { readonly spent: object }[];
    };
    expect(page.budgets[0]!.spent)
      .toMatchObject({ rho: String(cost.rhoAmount), delta: String(cost.deltaAmount) });
    const { stdout } = await stage.run(['ledger', stage.path('data'), '--json']);
    const { budgets } = JSON.parse(stdout) as { readonly budgets: readonly {
      readonly rho: { readonly spent: number };
      readonly studies: readonly { readonly questions: readonly string[] }[];
      readonly entries: readonly { readonly kind: string; readonly rho: number }[];
    }[] };
    const charged = amountToNumber(cost.rhoAmount as Amount);
    expect(budgets[0]!.rho.spent).toBe(charged);
    expect(budgets[0]!.entries.find(({ kind }) => kind === 'charged')!.rho).toBe(charged);
    expect(budgets[0]!.studies[0]!.questions).toEqual(names);
  });
});

it('is named with its questions by serve, studies and ledger', async () => {
  const asked = 'late-people (count), regions (count by region), ';
  const { stdout: listed } = await stage.run(['studies', served.url]);
  expect(listed).toMatch(/^ten: open, epoch 2, 1 releases$/m);
  expect(listed).toContain(`  ${asked}`);
  const { stdout: json } = await stage.run(['studies', served.url, '--json']);
  expect(JSON.parse(json)).toMatchObject({ studies: [{ name: 'ten', questions: names }] });
  const { stdout: spent } = await stage.run(['ledger', stage.path('data')]);
  expect(spent).toContain(`    each pays for ${names.join(', ')}`);
  const again = stage.start([
    'serve', stage.path('ten.yaml'), '--data', stage.path('other'), '--port', '0',
    '--log-level', 'silent',
  ]);
  while (!again.stdout.includes('the budget pays')) await again.next();
  expect(again.stdout).toContain(`study        ten: ${asked}`);
  expect(again.stdout).toContain('stops (histogram), epsilon 60 per release\n');
  await again.interrupt();
});
