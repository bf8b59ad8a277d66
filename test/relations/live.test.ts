// @module-tag slow
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContributor, type TypedRow } from '../../client/index.js';
import { History, questionsAsked, type StudyEntry } from '../../dashboard/base/model.js';
import { numbersOf } from '../../dashboard/base/numbers.js';
import { fromHex } from '../../src/base/bytes.js';
import { decodeLogLine } from '../../src/log/index.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Stage, type JsonLine, type Served } from '../support/live-command.js';
import { canImport, python } from '../support/python.js';
import { startRefusingProxy } from '../support/refusing-proxy.js';
import { root } from '../support/sources.js';
import {
  csv, people, questions, rows, rowsDue, studyFile, type PersonRow, type WayQuestion,
} from './people.js';

const hasPython = canImport('nacl.signing, websockets');
if (!hasPython) process.stderr.write('the way through Python is not tested\n');

const studies = ['by-websocket', 'by-http', ...(hasPython ? ['by-python'] : [])];
const ids = [...new Set(rows.map(({ id }) => id))];
const ownRows = (id: bigint): readonly PersonRow[] => rows.filter((row) => row.id === id);
const sentRow = ({ minutes, stops, late, region, at, score }: PersonRow): TypedRow =>
  ({ minutes, stops, late, region, at, score });

/** What a question should answer. */
function due(question: WayQuestion): readonly number[] {
  const found = rowsDue(question);
  const mean = (list: readonly number[]): number =>
    list.reduce((sum, value) => sum + value, 0) / list.length;
  const column = (j: number, list = found): number[] => list.map((row) => row[j]!);
  switch (question.name) {
    case 'late-people': case 'recent': return [found.length];
    case 'time': return [found.length * mean(column(0))];
    case 'late-share': return [found.filter(([value]) => value! >= 0.5).length / found.length];
    case 'per-stop': return [mean(column(0)) / mean(column(1))];
    case 'scores': return [-Infinity, 1, 2, 3, 4].map((edge, i, edges) =>
      found.filter(([value]) => value! >= edge && value! < (edges[i + 1] ?? Infinity)).length);
    case 'when': {
      const sorted = column(0).sort((left, right) => left - right);
      return [0.25, 0.5, 0.75].map((share) => sorted[Math.floor(share * sorted.length)]!);
    }
    case 'by-region':
      return [0, 1].map((key) => mean(column(1, found.filter(([place]) => place === key))));
    case 'by-stops':
      return [0, 1, 2, 3, 4].map((key) => found.filter(([place]) => place === key).length);
    default: return question.columns.map((_, j) => mean(column(j)));
  }
}

interface Shown {
  readonly outcome: string;
  readonly estimate: readonly number[];
  readonly interval95?: { readonly low: readonly number[]; readonly high: readonly number[] };
  readonly uncertainty?: { readonly standardDeviation?: readonly number[] };
}
type ShownByName = Readonly<Record<string, Shown>>;

/**
 * Quantiles do not state the deviation of their noise. Four people more or fewer move one of 240
 * times by less than a quarter of this.
 */
const quantileOffBy = 16 * (31_536_000_000 / people);
/** About a hundred numbers are compared: chance makes one of them as far off once in 1e7 runs. */
const deviations = 6.2;

function offByAtMost({ uncertainty }: Shown, i: number, estimator: string): number {
  return estimator === 'quantile'
    ? quantileOffBy : deviations * uncertainty!.standardDeviation![i]!;
}

function isNear(shown: Shown, question: WayQuestion, way: string): void {
  expect([way, question.name, shown.outcome]).toEqual([way, question.name, 'value']);
  const asked = due(question);
  expect([way, question.name, shown.estimate.length]).toEqual([way, question.name, asked.length]);
  asked.forEach((value, i) => {
    expect(Math.abs(shown.estimate[i]! - value), `${way}: ${question.name} ${i}, of ${value}`)
      .toBeLessThan(offByAtMost(shown, i, question.estimator));
  });
}

const stage = new Stage();
let served: Served;
const watched = new Map<string, JsonLine>();

async function contributeTo(study: string, url: string, serverKey: string): Promise<void> {
  for (const [i, id] of ids.entries()) {
    const seed = new Uint8Array(32).fill(7);
    new DataView(seed.buffer).setUint32(0, i);
    const contributor = createContributor({ url, study, seed, serverKey: fromHex(serverKey) });
    const settled = await contributor.contribute(ownRows(id).map(sentRow));
    expect(settled.kind).toBe('accepted');
    await contributor.close();
  }
}

const program = `
import json, sys
from keelson import Contributor
url, study, folder = sys.argv[1:4]
for i, rows in enumerate(json.load(open(folder + "/people.json"))):
    path = folder + "/" + str(i)
    with Contributor(url, study, key=path + ".key", outbox=path + ".outbox") as contributor:
        settled = contributor.contribute(rows)
        assert settled.code == "accepted", settled
`;

async function contributeByPython(study: string, url: string): Promise<void> {
  stage.write('people.json', JSON.stringify(ids.map((id) => ownRows(id).map((row) =>
    [row.minutes, row.stops, row.late, row.region, row.at, row.score]))));
  const command = stage.start([url, study, stage.folder], {
    program: python, command: stage.write('contribute.py', program),
    environment: { PYTHONPATH: `${root}clients/python`, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const { status, stderr } = await command.ended;
  expect([status, stderr]).toEqual([0, '']);
}

beforeAll(async () => {
  const files = studies.map((name) => stage.write(`${name}.yaml`, studyFile(name, questions)));
  served = await stage.serve(files);
  const { url, serverKey, port } = served;
  const watchers = studies.map((study) =>
    stage.start(['watch', url, '--study', study, '--server-key', serverKey, '--json']));
  const proxy = await startRefusingProxy(port);
  await contributeTo('by-websocket', url, serverKey);
  await contributeTo('by-http', proxy.url, serverKey);
  expect(proxy.seen.requests).toBeGreaterThan(people);
  await proxy.close();
  if (hasPython) await contributeByPython('by-python', url);
  for (const [i, study] of studies.entries()) {
    watched.set(study, await watchers[i]!.line(({ type }) => type === 'release'));
  }
});
afterAll(() => stage.end());

describe('the same question, asked of processes', () => {
  it.each(studies)('is answered right: %s', (study) => {
    const answers = watched.get(study)!['questions'] as ShownByName;
    for (const question of questions) isNear(answers[question.name]!, question, study);
  });

  it('is answered right by the command', async () => {
    const { stdout, status } = await stage.run([
      'estimate', '--study', stage.path('by-websocket.yaml'), stage.write('rows.csv', csv),
      '--contributor', 'id', '--csv', 'missing=null', '--json',
    ]);
    expect(status).toBe(0);
    const answers = (JSON.parse(stdout) as { readonly questions: ShownByName }).questions;
    for (const question of questions) isNear(answers[question.name]!, question, 'estimate');
  });
});

describe('one stored release', () => {
  it('has the same numbers for all who read it', async () => {
    const study = 'by-websocket';
    const log = await (await fetch(`${served.address}/v1/releases?study=${study}`)).text();
    const line = log.trimEnd().split('\n').map((text) => decodeLogLine(text))
      .find(({ type }) => type === 'release');
    if (line?.type !== 'release') throw new Error('the log has no release');
    const body = decodeReleaseBody(line.body);
    const stored = new Map(body.answers.map(({ question, outcome }) => {
      if (outcome.kind !== 'value') throw new Error(`${question} has no answer`);
      return [question, outcome] as const;
    }));
    expect([...stored.keys()]).toEqual(questions.map(({ name }) => name));

    const { stdout } = await stage.run([
      'verify', stage.write('log', log), '--server-key', served.serverKey,
      '--export', stage.path('numbers.csv'), '--json',
    ]);
    const verified = (JSON.parse(stdout) as { readonly lastAnswers: ShownByName }).lastAnswers;
    const exported = parse(readFileSync(stage.path('numbers.csv')), {
      columns: true, bom: true,
    }) as readonly Readonly<Record<string, string>>[];
    const page = await (await fetch(`${served.address}/v1/studies`)).json() as {
      readonly studies: readonly StudyEntry[];
    };
    const entry = page.studies.find(({ name }) => name === study)!;

    questionsAsked(entry).forEach((question, at) => {
      const { estimate, interval95 } = stored.get(question.name)!;
      const shown = watched.get(study)!['questions'] as ShownByName;
      for (const reader of [shown, verified]) {
        expect(reader[question.name])
          .toMatchObject({ estimate, ...(interval95 !== undefined && { interval95 }) });
      }
      const own = exported.filter((row) => row['question'] === question.name);
      expect(own.map((row) => Number(row['estimate'])), question.name).toEqual(estimate);
      const places = (outcome: Parameters<typeof numbersOf>[1]): readonly number[] =>
        numbersOf(question, outcome).map(({ place }) => place);
      const history = new History(undefined, places, at);
      history.take(body);
      expect(history.lastValue!.outcome.estimate, question.name).toEqual(estimate);
    });
  });
});
