import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('questions');
const place = (name: string, contents: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, contents);
  return path;
};

const study = place('rides.yaml', `study: rides
columns:
  minutes: { type: number, low: 0, high: 240 }
  late: boolean
  region: { type: category, of: [north, south] }
cohort: 3000
epoch: { every: 1d }
questions:
  late: { estimator: count, where: { late: true }, part: 20 }
  regions: { estimator: count, by: { column: region, groupsMax: 1 }, part: 30 }
  delays: { estimator: robust-mean, columns: [minutes], where: { late: true },
    parameters: { spread: 20, corruption: 0.02 } }
privacy: { epsilon: 8, delta: 1e-6 }
budget: { epsilon: 40, delta: 1e-5 }
`);
/** 3,000 people with two rides each: every third is late throughout, by 60 minutes. */
const rows = Array.from({ length: 6_000 }, (_, i) => {
  const id = i % 3_000;
  const minutes = id % 3 === 0 ? 50 + (id % 21) : 10;
  return `p${id},${minutes},${id % 3 === 0},${id < 2_000 ? 'north' : 'south'}\n`;
});
const rides = place('rides.csv', `id,minutes,late,region\n${rows.join('')}`);

const seeded = { environment: { KEELSON_INSECURE_SEED: 'a test' } };

interface Answers {
  readonly questions: Readonly<Record<string, {
    readonly outcome: string; readonly estimate: readonly number[];
    readonly groups?: readonly string[]; readonly privacy: { readonly rho: number };
  }>>;
  readonly privacy: { readonly epsilon: number; readonly delta: number; readonly rho: number };
}

const estimate = async (...words: readonly string[]): Promise<Answers> => {
  const { status, stdout, stderr } =
    await keelson(['estimate', '--study', study, ...words, '--json'], seeded);
  expect([status, stderr]).toEqual([0, expect.stringContaining('warning: KEELSON_INSECURE')]);
  return JSON.parse(stdout) as Answers;
};

describe('a study of several questions on the command line', () => {
  it('is planned: each question with its share, its cost and its error', async () => {
    const { status, stdout } = await keelson(['plan', study, '--json']);
    expect(status).toBe(0);
    const { studies: [plan] } = JSON.parse(stdout) as { studies: readonly {
      readonly privacy: { readonly epsilon: number; readonly rho: number };
      readonly questions: Readonly<Record<string, {
        readonly rho: number; readonly part: number; readonly keys?: number;
        readonly expectedError: { readonly clean: { readonly total: number } };
      }>>;
    }[] };
    const { late, regions, delays } = plan!.questions;
    expect([late!.part, regions!.part, delays!.part]).toEqual([20, 30, 50]);
    expect(regions!.keys).toBe(2);
    expect(plan!.privacy.epsilon).toBe(8);
    expect(late!.rho + regions!.rho + delays!.rho).toBeCloseTo(plan!.privacy.rho, 12);
    expect(delays!.expectedError.clean.total).toBeGreaterThan(0);
    const text = (await keelson(['plan', study])).stdout;
    expect(text).toMatch(/^late +count +20 % +\d\.\d+$/m);
    expect(text).toMatch(/^regions +count +2 +30 % +\d\.\d+$/m);
    expect(text).toMatch(/^delays +robust-mean +50 % +\d+\.\d+ +\d+\.\d+$/m);
    expect(text).toMatch(/^delays +units of the column$/m);
    expect(text).toMatch(/^late +people$/m);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('is answered from a file, people by their ids', async () => {
    const { questions, privacy } = await estimate(rides, '--contributor', 'id');
    expect(Object.keys(questions)).toEqual(['late', 'regions', 'delays']);
    const { late, regions, delays } = questions;
    expect(Math.abs(late!.estimate[0]! - 1_000)).toBeLessThan(60);
    expect(regions!.groups).toEqual(['north', 'south']);
    expect(Math.abs(regions!.estimate[0]! - 2_000)).toBeLessThan(60);
    expect(Math.abs(regions!.estimate[1]! - 1_000)).toBeLessThan(60);
    expect(Math.abs(delays!.estimate[0]! - 60)).toBeLessThan(5);
    expect(privacy).toMatchObject({ epsilon: 8, delta: 1e-6 });
    const sum = [late, regions, delays].reduce((total, each) => total + each!.privacy.rho, 0);
    expect(sum).toBeCloseTo(privacy.rho, 12);
  });

  it('counts every row as a person without ids, and takes the file as the only word', async () => {
    const { questions } = await estimate(rides);
    expect(Math.abs(questions['late']!.estimate[0]! - 2_000)).toBeLessThan(60);
  });

  it('answers one question alone, at its own cost', async () => {
    const { questions, privacy } =
      await estimate(rides, '--contributor', 'id', '--question', 'late');
    expect(Object.keys(questions)).toEqual(['late']);
    expect(privacy.rho).toBe(questions['late']!.privacy.rho);
    expect(privacy.epsilon).toBeLessThan(5);
  });

  it('prints each answer with its keys', async () => {
    const { stdout } =
      await keelson(['estimate', '--study', study, rides, '--contributor', 'id'], seeded);
    expect(stdout).toMatch(/^late: count$/m);
    expect(stdout).toMatch(/^regions: count\n.+\n"north" +[\d.]+ +[\d.]+ to [\d.]+$/m);
    expect(stdout).toContain('privacy: epsilon 8, delta 0.000001');
  });

  it.each([
    ['a question that is not there', ['--question', 'lat'],
      '--question names lat, and rides has no such question: it has late, regions, delays'],
    ['another epsilon', ['--epsilon', '2'],
      '--epsilon is given with a study file and no estimator: change the file instead'],
  ])('refuses %s', async (_name, words, message) => {
    const { status, stderr } = await keelson(['estimate', '--study', study, rides, ...words]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('says what is missing without an estimator or a study', async () => {
    const { status, stderr } = await keelson(['estimate']);
    expect([status, stderr]).toEqual([2, expect.stringContaining(
      'NAME is missing: give an estimator, or --study with a study file')]);
  });
});

describe('a study with texts', () => {
  const apps = place('apps.yaml', `study: apps
columns:
  minutes: { type: number, low: 0, high: 240 }
  app: { type: text, bytes: 32 }
  city: { type: text, optional: true }
cohort: 3000
epoch: { every: 1d }
questions:
  listed: { estimator: count, by: { column: app, groupsMax: 1, groups: [maps, Zürich, none] } }
  maps: { estimator: count, where: { app: maps } }
  nowhere: { estimator: count, where: { city: { present: false } } }
  found: { estimator: count, by: { column: app, discover: true, groupsMax: 1, top: 10 } }
  pairs: { estimator: count, by: { columns: [app, city], discover: true, groupsMax: 1 } }
  rare: { estimator: count, where: { app: own }, by: { column: app, discover: true, groupsMax: 1 } }
privacy: { epsilon: 8, delta: 1e-6 }
budget: { epsilon: 40, delta: 1e-5 }
`);
  // Two thirds have maps; half have a city, the others an empty cell. One person has "own".
  const cells = Array.from({ length: 3_000 }, (_, i) =>
    `${i},${i % 3 === 0 ? ' Zu\u0308rich' : 'maps'},${i % 2 === 0 ? '"the ""B"""' : ''}\n`);
  cells[0] = '0,own,\n';
  const file = place('apps.csv', `minutes,app,city\n${cells.join('')}`);

  it('is answered from a file', async () => {
    const { status, stdout } =
      await keelson(['estimate', '--study', apps, file, '--json'], seeded);
    // One question has no answer.
    expect(status).toBe(1);
    const { questions } = JSON.parse(stdout) as Answers;
    const near = (name: string, place: number, count: number): void =>
      expect(Math.abs(questions[name]!.estimate[place]! - count)).toBeLessThan(60);
    expect(questions['listed']!.groups).toEqual(['maps', 'Zürich', 'none']);
    near('listed', 0, 2_000);
    near('listed', 1, 1_000);
    near('listed', 2, 0);
    near('maps', 0, 2_000);
    near('nowhere', 0, 1_500);
    expect(questions['found']!.groups).toEqual(['maps', 'Zürich']);
    near('found', 0, 2_000);
    near('found', 1, 1_000);
    expect(questions['pairs']!.groups).toEqual([['maps', 'the "B"'], ['Zürich', 'the "B"']]);
    near('pairs', 0, 1_000);
    near('pairs', 1, 500);
    expect(questions['rare'])
      .toMatchObject({ outcome: 'refused', reason: 'participation-below-plan', estimate: [] });
    // What one person alone has is nowhere.
    expect(stdout).not.toContain('own"');
  });

  it('quotes the texts of an answer', async () => {
    const { stdout } = await keelson(['estimate', '--study', apps, file], seeded);
    expect(stdout).toMatch(/^"Zürich" +[\d.]+ +[\d.]+ to [\d.]+$/m);
    expect(stdout).toMatch(/^"maps", "the \\"B\\"" +[\d.]+ /m);
    expect(stdout).toMatch(/^rare: count\nrefused: participation-below-plan: no group is shown/m);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('refuses more people than there is room for the keys of', async () => {
    const many = place('many.yaml', `study: many
columns: { a: { type: text, bytes: 255 }, b: { type: text, bytes: 255 } }
cohort: 1000
epoch: { every: 1d }
questions:
  found: { estimator: count, by: { columns: [a, b], discover: true, groupsMax: 256 } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 4, delta: 1e-5 }
`);
    const own = place('many.csv', `a,b\n${'x,y\n'.repeat(16_000)}`);
    const { status, stderr } = await keelson(['estimate', '--study', many, own]);
    expect([status, stderr]).toEqual([2, expect.stringMatching(
      /many\.csv: the groups of all its people may not find room, .* those of 1[45]\d{3} people: give/)]);
  });

  it('refuses a text by its place and never shows it', async () => {
    const long = place('long.csv', `minutes,app,city\n1,${'secret'.repeat(9)},\n`);
    const { status, stderr } = await keelson(['estimate', '--study', apps, long]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(
      'line 2, column 2 ("app"): the text has more bytes than its column takes (32)')]);
    expect(stderr).not.toContain('secret');
  });
});

describe('types without a study file', () => {
  const flags = ['--epsilon', '8', '--delta', '1e-6', '--columns', 'late,region', '--type',
    'late=boolean', '--type', 'region=category:north,south'];

  it('say what a histogram counts', async () => {
    const words = ['estimate', 'histogram', rides, ...flags, '--set', 'column=region', '--json'];
    const { status, stdout } = await keelson(words, seeded);
    expect(status).toBe(0);
    const { labels, estimate } = JSON.parse(stdout) as {
      readonly labels: readonly string[]; readonly estimate: readonly number[];
    };
    expect(labels).toEqual(['north', 'south']);
    expect(Math.abs(estimate[0]! - 4_000)).toBeLessThan(60);
  });

  it('are not for a study that says what is asked', async () => {
    const words = ['estimate', '--study', study, rides, '--type', 'a=text'];
    const { status, stderr } = await keelson(words);
    expect([status, stderr]).toEqual([2, expect.stringContaining(
      '--type and --study both give columns their types: leave one out')]);
  });
});
