import { afterEach, describe, expect, it } from 'vitest';
import type { KeelsonError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import { servers } from '../../src/sealed/shares/body.js';
import { signatureBytes } from '../../src/wire/fields.js';
import { refusalOf } from '../support/refusal.js';
import { everyMs, SealedNodes } from '../support/sealed-nodes.js';

let nodes: SealedNodes | undefined;
afterEach(async () => {
  await nodes?.close();
  nodes = undefined;
});

const columns = '{ minutes: { type: number, low: 0, high: 64 }, '
  + 'kilometres: { type: number, low: 0, high: 32, optional: true }, '
  + 'by: { type: category, of: [bus, car], optional: true }, '
  + 'open: { type: number, optional: true }, app: { type: text, bytes: 8, optional: true } }';
const question = `questions:
  long: { estimator: count, columns: [minutes], parameters: { threshold: 25 }, part: 20 }
  kilometres: { estimator: mean, columns: [kilometres], parameters: { spread: [2] }, part: 40 }
  by-car: { estimator: count, where: { by: car }, part: 20 }
  means: { estimator: count, by: { column: by, groupsMax: 1 }, part: 20 }
contribution: { rowsMax: 1 }`;

/** A third of the people leave the kilometres out, a third what they travel by. */
const people = Array.from({ length: 60 }, (_, i) =>
  [20 + (i % 10), i % 3 === 0 ? NaN : 8.1 + 2 * (i % 2), i % 3 === 1 ? NaN : i % 2, NaN, NaN]);
const rich = { columns, question, cohort: 40, epsilon: 90 };

const valueOf = (outcome: Outcome | undefined): readonly number[] => {
  if (outcome?.kind !== 'value') throw new Error(outcome?.text ?? 'no outcome');
  return outcome.estimate;
};

function isNear(found: readonly number[], wanted: readonly number[], within: number): void {
  expect(found).toHaveLength(wanted.length);
  found.forEach((value, i) => expect(Math.abs(value - wanted[i]!)).toBeLessThan(within));
}

describe('three servers of a study with several questions', () => {
  it('answer each question, about those who have what it asks', async () => {
    const run = nodes = new SealedNodes(rich);
    await run.startAll();
    const stored: number[] = [];
    expect(await run.contribute(people, (body) => { stored.push(body.length); })).toEqual([]);
    expect(new Set(stored).size).toBe(1);
    for (const { plan } of run.definition.questions) {
      expect(plan.facts['bytesOfAnEntry']).toBe(stored[0]! + signatureBytes);
    }
    await run.clock.advance(everyMs);
    await run.until(async () => (await run.releases(0)).length === 1);
    const [{ outcomes }] = await run.releases(0) as [Awaited<ReturnType<typeof run.releases>>[0]];
    const [long, kilometres, byCar, means] = outcomes.map(valueOf);
    const among = (place: number): readonly number[] =>
      people.map((row) => row[place]!).filter((value) => !Number.isNaN(value));
    const driven = among(1);
    const cars = among(2).filter((value) => value === 1).length;
    // Noise of deviation below 1 people and 0.2 kilometres: fails less than once in 10^6.
    const mean = driven.reduce((sum, value) => sum + value, 0) / driven.length;
    isNear(long!, [people.filter(([minutes]) => minutes! >= 25).length], 6);
    isNear(kilometres!, [mean], 1);
    isNear(byCar!, [cars], 6);
    isNear(means!, [among(2).length - cars, cars], 8);
    for (const server of servers) {
      expect((await run.releases(server)).map(({ body }) => body))
        .toEqual((await run.releases(0)).map(({ body }) => body));
      expect(await run.spent(server)).toBe(run.view.charge.rho);
    }
  });
});

describe('what a server keeps of an entry', () => {
  it('is the same for whoever has a row in a question and whoever has none', async () => {
    const kept = async (rows: readonly (readonly number[])[]): Promise<readonly unknown[]> => {
      const run = nodes = new SealedNodes(rich);
      await run.startAll();
      expect(await run.contribute(rows)).toEqual([]);
      const entries = (await run.journal(0, 1n)).map(({ body, signature, ...facts }) =>
        ({ ...facts, bytes: body.length, signature: signature.length }));
      await run.close();
      nodes = undefined;
      return entries;
    };
    const whole = await kept([8, 9, 10].map((own) => [30, own, 1, 1, NaN]));
    expect(whole).toHaveLength(3);
    const lacking = [[30, NaN, 1, NaN, NaN], [30, 8, NaN, 1, NaN], [30, NaN, NaN, NaN, NaN]];
    expect(await kept(lacking)).toEqual(whole);
  });
});

describe('a server that crashes while several questions are answered', () => {
  it.each([0.2, 0.6, 0.9])('leaves the charge and no answer, or a new attempt: at %d', {
    tags: ['long'],
  }, async (part) => {
    const moments = await momentsOf();
    const run = nodes = new SealedNodes(rich);
    await run.startAll();
    expect(await run.contribute(people)).toEqual([]);
    const { charge } = run.view;
    run.crashAt(1, Math.floor(part * moments));
    await run.clock.advance(everyMs + 5_000);
    expect(run.isDead(1)).toBe(true);
    const charged = await Promise.all(servers.map((server) => run.hasCharged(server, 1n)));
    await run.start(1);
    await run.until(async () => {
      const logs = await Promise.all(servers.map((server) => run.releases(server)));
      return logs.every((log) => log.length === 1);
    });
    const [first] = await run.releases(0);
    expect(first!.outcomes).toHaveLength(4);
    for (const outcome of first!.outcomes) {
      if (charged.includes(true)) {
        expect(outcome).toMatchObject({ kind: 'refused', reason: 'interrupted' });
      } else expect(outcome.kind).toBe('value');
    }
    for (const server of servers) {
      expect((await run.releases(server)).map(({ body }) => body)).toEqual([first!.body]);
      expect(await run.spent(server)).toBe(charge.rho);
    }
  });

  /** What happens at server 1 in a release, so that a crash can be put into its midst. */
  async function momentsOf(): Promise<number> {
    const run = nodes = new SealedNodes(rich);
    await run.startAll();
    expect(await run.contribute(people)).toEqual([]);
    const before = run.moments[1]!.length;
    await run.clock.advance(everyMs);
    await run.until(async () => (await run.releases(1)).length === 1);
    const moments = run.moments[1]!.length - before;
    await run.close();
    return moments;
  }
});

describe('a question that no sealed program answers', () => {
  const refused = (lines: string, more: string): KeelsonError => refusalOf(() => new SealedNodes({
    ...rich, question: `questions:\n  people: { estimator: count }\n  ${lines}\n${more}`,
  }));

  it.each<[string, string, string]>([
    ['an estimator without a program',
      'late: { estimator: share, columns: [minutes], parameters: { threshold: 25 } }',
      'questions.late: share cannot be asked of sealed rows; choose one of count, '],
    ['a column without a range', 'late: { estimator: mean, columns: [open], '
      + 'parameters: { spread: [1] } }', 'questions.late: a sealed mean needs the range'],
    ['answers for each key', 'late: { estimator: mean, columns: [minutes], '
      + 'parameters: { spread: [1] }, by: { column: by, groupsMax: 1 } }',
    'questions.late: a sealed mean has no answer for each group'],
    ['keys that are found', 'late: { estimator: count, '
      + 'by: { column: app, groupsMax: 1, discover: true, top: 5 } }',
    'questions.late: groups cannot be discovered among sealed rows'],
    ['several keys of one person', 'late: { estimator: count, by: { column: by, groupsMax: 2 } }',
      'questions.late: a contributor to a sealed study counts under one group'],
    ['keys that do not count', 'late: { estimator: count, by: { column: by, groupsMax: 1 } }',
      'questions.late: a contributor may be in more groups than the one that counts'],
  ])('is refused by its name: %s', (_, lines, text) => {
    const isCut = text.includes('more groups');
    const error = refused(lines, isCut ? 'contribution: { rowsMax: 8 }'
      : 'contribution: { rowsMax: 1 }');
    expect(error.message).toContain(text);
    expect(error.code).toBe('plan-infeasible');
  });
});
