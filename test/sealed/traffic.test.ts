import { describe, expect, it } from 'vitest';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import {
  sealedCount, sealedCounts, sealedHistogram, sealedQuantile,
} from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { columnGrid } from '../../src/sealed/shares/column-grid.js';
import { Party } from '../../src/sealed/steps/party.js';
import type { Traffic } from '../../src/sealed/steps/traffic.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { dataSource } from '../support/data.js';
import { sealedAnswers, sealedFacts } from '../support/sealed-rows.js';

/** What three parties counted in a run. */
async function sentIn(
  program: SealedProgram, rows: readonly (readonly number[])[], dimension = 3,
): Promise<Traffic> {
  const parties: Party[] = [];
  await sealedAnswers(program, rows.map((row) => program.valuesOf(row.slice(0, dimension))), {
    isProved: true, partyOf: (options) => (parties[options.server] = new Party(options)),
  });
  return { rounds: parties[0]!.rounds, bytes: parties.map(({ sentBytes }) => sentBytes) };
}

const grid = columnGrid([[0, 128], [0, 200], [-64, 64]], [5, 8, 2], 16);
const data = dataSource('traffic');
const row = (): number[] => {
  const [a, b, c] = data.normals(3);
  return [30 + 5 * a!, 100 + 8 * b!, 2 * c!];
};

describe('what a plan says that servers send', () => {
  it.each<[string, (people: number) => SealedProgram]>([
    ['count', (people) => sealedCount(sealedFacts(3, people))],
    ['histogram', (people) => sealedHistogram(
      sealedFacts(3, people), { column: 0, edges: [10, 20, 30, 40, 50] })],
    ['quantile', (people) => sealedQuantile(sealedFacts(3, people), {
      column: 1, low: 0, high: 200, cells: 256, probabilities: [0.5],
    })],
    ['mean', (people) => sealedMean(sealedFacts(3, people), { grid })],
    ['partial histogram', (people) => sealedHistogram(
      sealedFacts(3, people), { column: 0, edges: [10, 20, 30], isPartial: true })],
    ['counts by key', (people) => sealedCounts(
      sealedFacts(3, people), 5, (row) => Math.abs(Math.floor(row[0]!)) % 5)],
    ['partial mean', (people) => sealedMean(sealedFacts(3, people), { grid, isPartial: true })],
    ['mean of one column', (people) => sealedMean(sealedFacts(1, people), {
      grid: columnGrid([[0, 120]], [16], 8), radius: 0.5,
    })],
  ])('is what they send: %s', { tags: ['long'] }, async (_, programOf) => {
    for (const people of [1, 33, 700]) {
      const program = programOf(people);
      const { form } = program;
      const { least, most } = program.traffic(people);
      expect(most).toEqual(least);
      expect(await sentIn(program, Array.from({ length: people }, row),
        form.kind === 'bin' ? 3 : Math.min(3, form.count))).toEqual(least);
    }
  });

  it('is what they send: robust-mean of honest rows', { tags: ['long'] }, async () => {
    for (const [rounds, isPartial] of [[1, false], [2, false], [1, true]] as const) {
      const people = 700;
      const program = sealedRobustMean(sealedFacts(3, people, 100), { grid, rounds, isPartial });
      expect(await sentIn(program, Array.from({ length: people }, row)))
        .toEqual(program.traffic(people).least);
    }
  });

  it('is at least what they send: robust-mean, and liars in two places', {
    tags: ['long'],
  }, async () => {
    const people = 2_000;
    const program = sealedRobustMean(sealedFacts(3, people, 100), { grid, corruption: 0.2 });
    const { least, most } = program.traffic(people);
    const rows = Array.from({ length: people }, (_, i) => {
      const [a, b, c] = row() as [number, number, number];
      return [[a + 15, b + 20, c], [a, b, c + 7]][i % 10] ?? [a, b, c];
    });
    const sent = await sentIn(program, rows);
    expect(sent.rounds).toBeGreaterThan(least.rounds);
    expect(sent.rounds).toBeLessThanOrEqual(most.rounds);
    sent.bytes.forEach((bytes, server) => {
      expect(bytes).toBeGreaterThan(least.bytes[server]!);
      expect(bytes).toBeLessThanOrEqual(most.bytes[server]!);
    });
  });

  it('is in the plan of a study file', async () => {
    const key = '5fceec57ec2bc609574495847f7116f7d809d641f7da2f669d13000e8d259dd6';
    const factsOf = (cohort: number, question: string) => parseStudyText(`study: traffic
columns: [minutes]
cohort: ${cohort}
epoch: { every: 24h }
${question}
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
sealed:
  against: reading
  range: [[0, 64]]
  servers:
${['1', '2', '3'].map((name) => `    - { name: s${name}, url: 'wss://${name}.example', `
  + `key: '${key.replace('5', name)}' }`).join('\n')}
`, { name: 'traffic.yaml' }).questions[0].plan.facts;
    const people = 120;
    const { rounds, bytes } = await sentIn(
      sealedCount(sealedFacts(3, people)), Array.from({ length: people }, row));
    const counted = factsOf(people, 'estimator: count');
    expect(counted).toMatchObject({
      roundsBetweenServers: rounds, bytesSentByAServer: Math.max(...bytes),
    });
    expect(counted).not.toHaveProperty('roundsBetweenServersAtMost');
    expect(counted).not.toHaveProperty('countedRange');
    const robust = factsOf(
      2_000, 'estimator: robust-mean\nparameters: { spread: [4], shape: light }');
    // With 2^11 steps to a spread of 4, the range has 2^15 steps, and the grid 62 * 2^10.
    expect(robust['countedRange']).toBe('0 to 124');
    expect(robust['clippedReportedFrom']).toBeLessThan(2_000 / 10);
    expect(robust['roundsBetweenServersAtMost'])
      .toBeGreaterThan(Number(robust['roundsBetweenServers']));
    expect(robust['bytesSentByAServerAtMost'])
      .toBeGreaterThan(Number(robust['bytesSentByAServer']));
    expect(() => factsOf(2 ** 21, 'estimator: count')).toThrow('1048576');
  });

  it('has a number of people that can be', () => {
    expect(() => sealedMean(sealedFacts(3, 10), { grid }).traffic(0)).toThrow('contributors');
  });
});
