import { describe, expect, it } from 'vitest';
import { abuseFrames } from '../../simulation/attacks/index.js';
import {
  abuses, attackNames, datasetSource, findAttack, gaussianSource, reduceRows, rowAttacks,
  truthOf, TruthSums,
  type AttackContext, type RowAttack,
} from '../../simulation/index.js';
import { utf8 } from '../../src/base/bytes.js';
import { seededRandom } from '../../src/random/work.js';
import { signing } from '../../src/signing/node.js';
import { verifyBatch } from '../../src/signing/index.js';
import {
  batchRows, decodeBatchBody, decodeClientFrame, type SignedBatch,
} from '../../src/wire/index.js';
import { context as signatureContext, contributor } from '../support/wire-samples.js';

const seed = utf8('attacks');
const columns = 3;
const centre = [10, -5, 1000];
const spread = [2, 3, 400];
const source = gaussianSource({ mean: centre, standardDeviation: spread, rows: 4, seed });

const contextOf = (index: number, epoch = 1n): AttackContext => ({
  columns, spread, centre, strength: 4, age: 0,
  shared: seededRandom(seed).fork('agreed'), own: seededRandom(seed).fork(`${index} ${epoch}`),
});

/** The reduced rows of 400 contributors under an attack, in spreads about the centre. */
function attacked(attack: RowAttack, strength = attack.defaultStrength): number[][] {
  return Array.from({ length: 400 }, (_, index) => {
    const rows = source(index, 1n, 's');
    const before = rows.slice();
    const context = { ...contextOf(index), strength };
    const after = attack.apply(rows, context);
    expect(rows).toEqual(before);
    expect(attack.apply(rows, { ...contextOf(index), strength })).toEqual(after);
    return [...reduceRows(after, columns, 'mean')].map((value, column) =>
      (value - centre[column]!) / spread[column]!);
  });
}

const meanOf = (rows: readonly number[][]): number[] =>
  rows[0]!.map((_, column) => rows.reduce((sum, row) => sum + row[column]!, 0) / rows.length);
const spreadOf = (rows: readonly number[][]): number[] => {
  const mean = meanOf(rows);
  return mean.map((middle, column) =>
    Math.sqrt(rows.reduce((sum, row) => sum + (row[column]! - middle) ** 2, 0) / rows.length));
};
const named = (name: string): RowAttack => findAttack(name) as RowAttack;

describe('attacks on the numbers', () => {
  it('leave the honest rows alone and repeat exactly', { tags: ['long'] }, () => {
    for (const attack of rowAttacks.filter((one) => one.name !== 'nan')) attacked(attack);
  });

  // Means of 400 contributors of 4 rows: standard error 1/40 of a spread, so 0.13 is past 5 of
  // them.
  it('shift moves every column by the strength and keeps the cloud', () => {
    const rows = attacked(named('shift'));
    meanOf(rows).forEach((value) => expect(value).toBeCloseTo(4, 0));
    meanOf(rows).forEach((value) => expect(Math.abs(value - 4)).toBeLessThan(0.13));
    spreadOf(rows).forEach((value) => expect(Math.abs(value - 0.5)).toBeLessThan(0.1));
  });

  it('direction moves by the strength in total, along one line that all agree on', () => {
    const rows = attacked(named('direction'));
    expect(Math.abs(Math.hypot(...meanOf(rows)) - 4)).toBeLessThan(0.25);
    spreadOf(rows).forEach((value) => expect(Math.abs(value - 0.5)).toBeLessThan(0.1));
    const other = named('direction').apply(source(7, 9n, 's'), contextOf(7, 9n));
    const shiftBy = [...other].slice(0, columns)
      .map((value, i) => (value - source(7, 9n, 's')[i]!) / spread[i]!);
    expect(shiftBy.reduce((sum, value, i) => sum + value * meanOf(rows)[i]!, 0))
      .toBeGreaterThan(14);
  });

  it('far puts everything on one point, the strength away', () => {
    const rows = attacked(named('far'), 1000);
    expect(Math.max(...spreadOf(rows))).toBeLessThan(1e-9);
    expect(Math.abs(Math.hypot(...meanOf(rows)) - 1000)).toBeLessThan(1e-6);
  });

  it('inliers stay where honest rows are, on one side', () => {
    for (let index = 0; index < 50; index++) {
      const honest = source(index, 1n, 's');
      const after = named('inliers').apply(honest, { ...contextOf(index), strength: 1 });
      after.forEach((value, i) => {
        const middle = centre[i % columns]!;
        expect(value).toBeGreaterThanOrEqual(middle);
        expect(Math.abs(value - middle)).toBeCloseTo(Math.abs(honest[i]! - middle), 9);
      });
    }
  });

  it('noise spreads without a bias', () => {
    const rows = attacked(named('noise'));
    // sqrt(1 + 100) over 2; 400 of them: standard error .25.
    meanOf(rows).forEach((value) => expect(Math.abs(value)).toBeLessThan(1.3));
    spreadOf(rows).forEach((value) => expect(Math.abs(value - Math.sqrt(101) / 2)).toBeLessThan(1));
  });

  it('coordinate moves one column, the same for all, and leaves the others', () => {
    const means = meanOf(attacked(named('coordinate')));
    expect(means.filter((value) => Math.abs(value - 4) < 0.13)).toHaveLength(1);
    expect(means.filter((value) => Math.abs(value) < 0.13)).toHaveLength(columns - 1);
  });

  it('krum-evader puts one point where honest rows are thick', () => {
    const rows = attacked(named('krum-evader'));
    expect(Math.max(...spreadOf(rows))).toBeLessThan(1e-9);
    expect(Math.hypot(...meanOf(rows))).toBeCloseTo(1, 9);
  });

  it('slow-drift goes the same way a little further in every epoch', () => {
    const rows = source(3, 1n, 's');
    const moved = (age: number): number[] =>
      [...named('slow-drift').apply(rows, { ...contextOf(3), strength: 0.25, age })]
        .slice(0, columns).map((value, i) => (value - rows[i]!) / spread[i]!);
    expect(Math.hypot(...moved(0))).toBeCloseTo(0.25, 9);
    moved(7).forEach((value, i) => expect(value).toBeCloseTo(8 * moved(0)[i]!, 9));
  });

  it('sybil says the same with every key', () => {
    const rows = attacked(named('sybil'));
    expect(Math.max(...spreadOf(rows))).toBeLessThan(1e-9);
    meanOf(rows).forEach((value) => expect(Math.abs(value)).toBeCloseTo(2, 9));
  });

  it('nan makes exactly one value unusable', () => {
    for (let index = 0; index < 50; index++) {
      const after = named('nan').apply(source(index, 1n, 's'), contextOf(index));
      expect([...after].filter((value) => !Number.isFinite(value))).toHaveLength(1);
    }
  });

  const withNames: AttackContext = {
    ...contextOf(1), columns: 3, names: [4, null, 2], rowsMax: 6,
  };

  it('ballot-stuffing sends a row for as many keys as it can', () => {
    const after = named('ballot-stuffing').apply(Float64Array.of(1, 7, 0, 2, 9, 1), withNames);
    const rows = Array.from({ length: after.length / 3 }, (_, i) =>
      [...after.subarray(3 * i, 3 * i + 3)]);
    expect(rows).toHaveLength(6);
    expect(new Set(rows.map(([first, , last]) => `${first} ${last}`)).size).toBe(6);
    expect(rows.map(([, value]) => value)).toEqual([7, 9, 7, 9, 7, 9]);
    const more = named('ballot-stuffing').apply(Float64Array.of(1, 7, 0), {
      ...withNames, rowsMax: 100,
    });
    expect(more).toHaveLength(3 * 8);
  });

  it('heavy-hitter-poisoning sends one key that all agree on, with huge numbers', () => {
    const keys = Array.from({ length: 20 }, (_, index) => {
      const after = named('heavy-hitter-poisoning').apply(Float64Array.of(1, 7, 0, 2, 9, 1), {
        ...withNames, ...contextOf(index), names: [4, null, 2], strength: 1e6,
      });
      expect(after[1]).toBeGreaterThan(1e5);
      return [after[0], after[2], after[3], after[5]].join(' ');
    });
    expect(new Set(keys).size).toBe(1);
  });

  const withTexts: AttackContext = {
    ...contextOf(1), columns: 3, names: [4, null, 8], invented: [0, 0, 500], rowsMax: 20,
  };
  const textsOf = (rows: Float64Array): number[] =>
    Array.from(rows).filter((_, i) => i % 3 === 2);

  it('forge-groups sends the same few texts that nobody else has', () => {
    const sent = Array.from({ length: 20 }, (_, index) =>
      named('forge-groups').apply(Float64Array.of(1, 7, 0, 2, 9, 1), {
        ...withTexts, ...contextOf(index), strength: 1,
      }));
    const texts = new Set(sent.flatMap(textsOf));
    expect(texts.size).toBe(1);
    for (const text of texts) expect(text >= 8 && text < 508).toBe(true);
    // Names of a category cannot be invented, and numbers stay.
    expect(sent[0]![0]).toBeLessThan(4);
    expect([sent[0]![1], sent[0]![4]]).toEqual([7, 9]);
    const two = named('forge-groups').apply(Float64Array.of(1, 7, 0, 2, 9, 1), {
      ...withTexts, strength: 2,
    });
    expect(new Set(textsOf(two)).size).toBe(2);
    const numbers = named('forge-groups').apply(Float64Array.of(1, 7, 0), contextOf(1));
    expect([...numbers]).toEqual([1, 7, 0]);
  });

  it('evict-groups sends as many texts of its own as it can', () => {
    const sent = [1, 2].map((index) =>
      named('evict-groups').apply(Float64Array.of(1, 7, 0), {
        ...withTexts, own: seededRandom(seed).fork(`evicts ${index}`),
      }));
    for (const rows of sent) {
      expect(rows).toHaveLength(3 * 20);
      expect(new Set(textsOf(rows)).size).toBeGreaterThan(10);
      expect(textsOf(rows).every((text) => text >= 8 && text < 508)).toBe(true);
    }
    expect(textsOf(sent[0]!)).not.toEqual(textsOf(sent[1]!));
  });

  it('are found by name, or the names are listed', () => {
    expect(attackNames).toEqual([
      'shift', 'direction', 'coordinate', 'far', 'inliers', 'krum-evader', 'slow-drift', 'sybil',
      'noise', 'nan', 'ballot-stuffing', 'heavy-hitter-poisoning', 'forge-groups', 'evict-groups',
      'malformed', 'replay',
    ]);
    expect(() => findAttack('shfit')).toThrow('there is no attack "shfit": did you mean "shift"?');
    expect(() => findAttack('zzz')).toThrow('no attack "zzz": choose one of shift, direction');
  });
});

describe('abuses of the protocol', () => {
  const context = {
    ...signatureContext, signer: contributor, channel: 3, epoch: 7n, columns: 2, sequence: 5n,
    rows: Float64Array.of(1, 2, 3, 4), random: seededRandom(seed),
  };
  const verifier = signing.createVerifier(contributor.publicKey);
  const batchOf = (bytes: Uint8Array): SignedBatch => decodeClientFrame(bytes) as SignedBatch;
  const isSigned = ({ body, signature }: SignedBatch): boolean =>
    verifyBatch(verifier, signatureContext, signing.sha512(body), signature);

  it('are what their names say', () => {
    const frames = new Map(abuses.map((abuse) => [abuse, abuseFrames(abuse, context)]));
    const only = (abuse: (typeof abuses)[number]): SignedBatch =>
      batchOf(frames.get(abuse)!.frames[0]!);
    expect(() => decodeClientFrame(frames.get('cut-frame')!.frames[0]!)).toThrow();
    expect(isSigned(only('bad-signature'))).toBe(false);
    const unsigned = ['random-bytes', 'cut-frame', 'bad-signature'];
    for (const abuse of abuses) {
      if (!unsigned.includes(abuse)) expect(isSigned(only(abuse))).toBe(true);
    }
    const wide = decodeBatchBody(only('wrong-columns').body);
    expect([wide.rows, wide.columns, batchRows(wide).length]).toEqual([2, 3, 6]);
    expect(() => batchRows(decodeBatchBody(only('wrong-size').body))).toThrow();
    expect([...batchRows(decodeBatchBody(only('not-finite').body))]).toEqual([NaN, NaN, NaN, NaN]);
    const [first, second] = frames.get('replay')!.frames;
    expect(first).toEqual(second);
    const [honest, mutated] =
      frames.get('mutated-replay')!.frames.map((frame) => decodeBatchBody(batchOf(frame).body));
    expect(mutated!.sequence).toBe(honest!.sequence);
    expect(mutated!.data).not.toEqual(honest!.data);
    expect(only('unknown-channel').channel).not.toBe(3);
    expect(decodeBatchBody(only('far-sequence').body).sequence).toBeGreaterThan(64n);
  });
});

describe('sources and truth', () => {
  it('deals every row of a data set once per round, and goes on in the next epoch', () => {
    const values = Float64Array.from({ length: 120 * 2 }, (_, i) => i);
    const deal = datasetSource({ values, columns: 2, rows: 4, contributors: 10, seed });
    const firsts = [1n, 2n, 3n].flatMap((epoch) =>
      [...Array(10).keys()].flatMap((index) =>
        [...deal(index, epoch, 's')].filter((_, i) => i % 2 === 0)));
    expect(firsts.sort((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, i) => 2 * i));
    expect(deal(3, 2n, 's')).toEqual(deal(3, 2n, 's'));
    expect(() => datasetSource({ values, columns: 7, rows: 4, contributors: 10, seed }))
      .toThrow(/whole rows/);
  });

  it('makes normal rows of the stated mean and spread', () => {
    const rows =
      Array.from({ length: 2000 }, (_, index) => [...source(index, 5n, 's')].slice(0, columns));
    meanOf(rows)
      .forEach((value, i) => expect(Math.abs(value - centre[i]!)).toBeLessThan(0.13 * spread[i]!));
    // The standard error of a standard deviation is 1/63 of it: a spread 10 % off is past 6 of
    // them.
    spreadOf(rows)
      .forEach((value, i) => expect(Math.abs(value / spread[i]! - 1)).toBeLessThan(0.08));
  });

  it('knows what honest and naive means are, as the server reduces', () => {
    expect([...reduceRows(Float64Array.of(1, 10, 3, 30), 2, 'mean')]).toEqual([2, 20]);
    expect([...reduceRows(Float64Array.of(2 ** 60, -(2 ** 60)), 2, 'one')])
      .toEqual([2 ** 60, -(2 ** 60)]);
    expect([...reduceRows(Float64Array.of(1, 10, 3, 2e15), 2, 'sum')]).toEqual([4, 2e15 + 10]);
    const sums = new TruthSums(1);
    sums.add(Float64Array.of(2), false);
    sums.add(Float64Array.of(4), false);
    sums.add(Float64Array.of(102), true);
    expect(sums.truth).toEqual({
      honestMean: Float64Array.of(3), naiveMean: Float64Array.of(36),
      honestTotal: Float64Array.of(6), naiveTotal: Float64Array.of(108), honest: 2, hostile: 1,
    });
    const asked = { columns: ['x'], parameters: {} };
    expect(truthOf({ ...asked, estimator: 'sum' }, sums.truth))
      .toEqual({ honest: [6], naive: [108] });
    expect(truthOf({ ...asked, estimator: 'mean' }, sums.truth))
      .toEqual({ honest: [3], naive: [36] });
  });
});
