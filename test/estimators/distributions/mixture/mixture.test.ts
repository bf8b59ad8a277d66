import { describe, expect, it } from 'vitest';
import { parseStudyText } from '../../../../server/study-file/parse.js';
import { InvalidParameterError } from '../../../../src/base/errors.js';
import { partsByName } from '../../../../src/base/parts.js';
import { utf8 } from '../../../../src/base/bytes.js';
import type { Plan, StudyFacts } from '../../../../src/estimators/contract/estimator.js';
import {
  boxesOf, countBoxes, sizes,
} from '../../../../src/estimators/distributions/mixture/boxes.js';
import { mixture } from '../../../../src/estimators/distributions/mixture/mixture.js';
import {
  averageOf, covarianceOf, normalOf, type Normal,
} from '../../../../src/estimators/distributions/mixture/normals.js';
import {
  nextNormals, roundBounds, roundSums,
} from '../../../../src/estimators/distributions/mixture/rounds.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { createGroups, releaseGroups } from '../../../../src/estimators/run.js';
import { createMechanisms } from '../../../../src/privacy/mechanisms/index.js';
import { privacyTarget } from '../../../../src/privacy/accounting/target.js';
import { seededNoise } from '../../../../src/random/insecure.js';
import { seededRandom } from '../../../../src/random/work.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { sampleStudy } from '../../../support/sample-studies.js';
import { root as project } from '../../../support/sources.js';

const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
const planned = (raw: object, facts: Partial<StudyFacts> = {}) => {
  const dimension = facts.dimension ?? 2;
  return mixture.plan(parseParameters(mixture.parameters, { ...raw }, { dimension }), {
    dimension, cohort: 100_000, participation: 'secret', target, ...facts,
  });
};

const normal = (weight: number, mean: readonly number[], covariance: readonly number[]): Normal =>
  normalOf(weight, Float64Array.from(mean), Float64Array.from(covariance))!;
const two = [normal(0.6, [0, 0], [1, 0.5, 0.5, 1]), normal(0.4, [4, -1], [2, -1, -1, 3])];
const shape = { dimension: 2, components: 3, radius: 3.5 };
const block = (values: Float64Array) => ({ count: values.length / 2, dimension: 2, values });

describe('a step', () => {
  it('is moved by a row as little as it says, and by nearly that sometimes', () => {
    const data = dataSource('steps');
    const { sensitivity } = roundBounds(shape);
    const ends = [0, 0, 2.5, 2.5, -2.5, 2.5, 1e300, -1e300, 20, 0, 4, -1, 9, -9];
    let most = 0;
    for (let round = 0; round < 4_000; round++) {
      const pick = (): Float64Array => {
        const at = 2 * data.below(ends.length / 2);
        const far = 10 ** data.below(3);
        return Float64Array.from(data.normals(2), (entry, j) =>
          ends[at + j]! + far * entry * (round % 2));
      };
      const values = data.normals(12);
      const other = values.slice();
      other.set(pick(), 0);
      if (round % 3 === 0) values.set(pick(), 0);
      const [before, after] = [
        roundSums(two, block(values), shape), roundSums(two, block(other), shape),
      ];
      const fewer = roundSums(two, block(values.slice(2)), shape);
      for (const neighbour of [after, fewer]) {
        most = Math.max(most, Math.hypot(...neighbour.map((entry, i) => entry - before[i]!)));
      }
    }
    expect(most).toBeLessThanOrEqual(sensitivity);
    expect(most).toBeGreaterThan(0.75 * sensitivity);
  });

  it('has the inner products that its proof says: never below zero', () => {
    const data = dataSource('angles');
    for (let round = 0; round < 2_000; round++) {
      const [one, other] = [4, 4].map((far) =>
        roundSums(two, block(data.normals(2).map((entry) => far * entry)), shape));
      const inner = one!.reduce((sum, entry, i) => sum + entry * other![i]!, 0);
      // Cutting to the grid turns vectors a little.
      expect(inner).toBeGreaterThan(-1e-2);
    }
  });

  it('without noise climbs to the mixture that rows follow', () => {
    const data = dataSource('climb');
    const values = rowsOf(two, 20_000, data);
    let list: readonly Normal[] = [
      normal(0.5, [-1, 1], [4, 0, 0, 4]), normal(0.5, [5, 1], [4, 0, 0, 4]),
    ];
    for (let step = 0; step < 60;
        step++) list = nextNormals(list, roundSums(list, block(values), shape), 1e-9, shape);
    for (const [k, { weight, mean }] of two.entries()) {
      expect(list[k]!.weight).toBeCloseTo(weight, 1);
      mean.forEach((entry, j) => expect(Math.abs(list[k]!.mean[j]! - entry)).toBeLessThan(0.1));
      covarianceOf(two[k]!).forEach((entry, at) =>
        expect(Math.abs(covarianceOf(list[k]!)[at]! - entry)).toBeLessThan(0.25));
    }
    expect(averageOf([list, list])[0]!.mean[0]).toBeCloseTo(list[0]!.mean[0]!, 12);
  });
});

describe('boxes', () => {
  const windows = [[{ place: 0, width: 2 }, { place: 0, width: 64 }], [{ place: -8, width: 8 }]];

  it('put a row into at most one of each size, and larger ones hold smaller ones', () => {
    const data = dataSource('boxes');
    const values = data.normals(2_000).map((entry) => 6 * entry);
    const maps = countBoxes(block(values), windows);
    const held = maps.map((map) => [...map.values()].reduce((sum, count) => sum + count, 0));
    expect(maps).toHaveLength(sizes);
    expect(new Set(held).size).toBe(1);
    expect(held[0]).toBeLessThanOrEqual(1_000);
    const other = values.slice();
    other.set([1e300, -1e300], 0);
    for (const [size, map] of countBoxes(block(other), windows).entries()) {
      const moved = [...maps[size]!].filter(([key, count]) => map.get(key) !== count);
      expect(moved.length).toBeLessThanOrEqual(1);
    }
  });

  it('say where rows are when nothing is hidden: disjoint, all rows, their means', () => {
    const data = dataSource('whole');
    const values = data.normals(4_000).map((entry, i) => (i % 2 ? -6 : 3) + 2 * entry);
    const kept = countBoxes(block(values), windows).map((map) =>
      [...map].map(([bin, noisyCount]) => ({ bin, noisyCount })));
    const boxes = boxesOf(kept, windows, 1e-9, 1e6);
    const total = boxes.reduce((sum, { mass }) => sum + mass, 0);
    const inside = countBoxes(block(values), windows)[0]!;
    expect(total).toBeCloseTo([...inside.values()].reduce((sum, count) => sum + count, 0), 6);
    const mean = [0, 1].map((j) =>
      boxes.reduce((sum, { mass, centre }) => sum + (mass / total) * centre[j]!, 0));
    expect(mean[0]).toBeCloseTo(3, 0);
    expect(mean[1]).toBeCloseTo(-6, 0);
  });
});

describe('mixture', () => {
  const parts = [
    normal(0.3, [0, 0], [1, 0, 0, 1]), normal(0.4, [8, 5], [4, 2, 2, 4]),
    normal(0.3, [-900, 9], [1e4, 60, 60, 1]),
  ];

  it('finds three components in two columns, of spreads far apart, without being told '
    + 'where', { tags: ['slow'] }, async () => {
    const plan = planned({});
    if (plan.kind === 'infeasible') throw new Error(plan.reason);
    const values = rowsOf(parts, 100_000, dataSource('three'));
    const { weights, means, covariances } = await answered(plan, values, 'three');
    const order = [2, 0, 1];
    for (const [place, k] of order.entries()) {
      const own = parts[k]!;
      const truth = covarianceOf(own);
      expect(Math.abs(weights[place]! - own.weight)).toBeLessThan(0.05);
      own.mean.forEach((entry, j) => {
        expect(Math.abs(means[place]![j]! - entry)).toBeLessThan(0.25 * Math.sqrt(truth[3 * j]!));
        expect(covariances[place]![j]![j]! / truth[3 * j]!).toBeGreaterThan(0.7);
        expect(covariances[place]![j]![j]! / truth[3 * j]!).toBeLessThan(1.4);
      });
    }
  });

  it('finds rounded rows when it knows their steps', { tags: ['long'] }, async () => {
    const plan = planned({ components: 1, resolution: [1, 5] }, { cohort: 25_000 });
    if (plan.kind === 'infeasible') throw new Error(plan.reason);
    const values = dataSource('rounded').normals(50_000).map((entry, i) =>
      (i % 2 ? 5 * Math.round(8 * entry) : Math.round(100 + 6 * entry)));
    const { means, covariances } = await answered(plan, values, 'rounded');
    expect(Math.abs(means[0]![0]! - 100)).toBeLessThan(1);
    expect(covariances[0]![0]![0]! / 36).toBeCloseTo(1, 0);
    expect(covariances[0]![1]![1]! / 1600).toBeCloseTo(1, 0);
  });

  it('says what is not guaranteed, and refuses what cannot work', () => {
    const plan = planned({});
    expect(plan.kind === 'plan' && plan.facts['provedAccuracy']).toMatch(/none/);
    const few = planned({}, { cohort: 20_000 });
    const enough = few.kind === 'infeasible' ? few.cohortNeeded! : NaN;
    expect(planned({}, { cohort: enough }).kind).toBe('plan');
    expect(planned({}, { cohort: enough - 1 }).kind).toBe('infeasible');
    expect(planned({}, { target: { ...target, isPure: true } }).kind).toBe('infeasible');
    expect(() => planned({}, { dimension: 1 })).toThrow(InvalidParameterError);
    expect(() => planned({}, { dimension: 7 })).toThrow(/2 to 6 columns/);
  });

  it('has a sample study that can be planned', () => {
    const text = sampleStudy(project, 'flights-mixture');
    const { document } = parseStudyText(text, { name: 'flights-mixture.yaml' });
    const [question] = document.questions;
    expect(planned(question!.parameters, { cohort: document.cohort }).kind).toBe('plan');
  });
});

function rowsOf(parts: readonly Normal[], count: number, data: DataSource): Float64Array {
  const values = new Float64Array(2 * count);
  for (let row = 0; row < count; row++) {
    let rest = data.uniform();
    const { mean, root } = parts.find(({ weight }) => (rest -= weight) < 0) ?? parts[0]!;
    const [x, y] = [data.normal(), data.normal()];
    values[2 * row] = mean[0]! + root[0]! * x;
    values[2 * row + 1] = mean[1]! + root[2]! * x + root[3]! * y;
  }
  return values;
}

async function answered(plan: Plan, values: Float64Array, seed: string) {
  const data = dataSource(`${seed} tickets`);
  const groups = createGroups(plan, 2);
  for (let at = 0;
      at < values.length; at += 2) groups.add(data.assignmentHash(), values.subarray(at, at + 2));
  const mechanisms = createMechanisms(plan.events, seededNoise(seed));
  const outcome =
    await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return partsByName(outcome) as {
    weights: number[]; means: number[][]; covariances: number[][][];
  };
}
