import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireCodes } from '../../src/base/error-codes.js';
import {
  findingReasons, refusalReasons, type Interval95,
} from '../../src/base/outcome.js';
import type { Outcome } from '../../src/base/outcome.js';
import * as wire from '../../src/wire/index.js';
import { numbersOf } from '../support/number-infos.js';
import * as samples from '../support/wire-samples.js';
import { without } from '../support/without.js';

const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });
const body = fc.uint8Array({ maxLength: 200 });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(
    0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n,
  ),
);
const amount = fc.bigInt({ min: 0n, max: 2n ** 126n });
const double = fc.double({ noNaN: true });
const columnsOfSamples = 2;
const state = fc.constantFrom<wire.WireStudyState>('open', 'exhausted', 'ended');
const text = fc.string({ unit: 'binary', maxLength: 40 });
/** What a server says: the rest is replaced when it is read. */
const words = text.map((any) => any.replace(/\p{C}/gu, ' '));
const code = fc.constantFrom(...wireCodes);

const clientFrame: fc.Arbitrary<wire.ClientFrame> = fc.oneof(
  fc.record({
    kind: fc.constant('hello' as const),
    studyId: bytes(32),
    publicKey: bytes(32),
    clientNonce: bytes(32),
    signature: bytes(64),
  }),
  fc.record({ kind: fc.constant('batch' as const), channel: uint32, body, signature: bytes(64) }),
  fc.record({ kind: fc.constant('subscribe' as const), studyId: bytes(32), fromRelease: uint64 }),
  fc.record({ kind: fc.constant('unsubscribe' as const), studyId: bytes(32) }),
);

const limits = fc.record({
  frameBytes: uint32,
  rowsPerBatch: uint32,
  creditBatches: uint32,
  channelsPerSocket: uint32,
  sequenceWindow: uint32,
});
const spend = fc.record(
  { rho: double, rhoCap: double, delta: double, deltaCap: double }, { noNullPrototype: true },
);
const serverFrame: fc.Arbitrary<wire.ServerFrame> = fc.oneof(
  fc.record({
    kind: fc.constant('welcome' as const),
    serverKey: bytes(32),
    serverNonce: bytes(32),
    limits,
    studies: fc.array(
      fc.record({ facts: body, signature: bytes(64), state, epoch: uint64 }), { maxLength: 4 },
    ),
    rotations: fc.array(bytes(192), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('ready' as const),
    channel: uint32,
    studyId: bytes(32),
    publicKey: bytes(32),
    signature: bytes(64),
    epoch: uint64,
    nextSequence: uint64,
    holes: fc.array(uint64, { maxLength: 64 }),
    credit: uint32,
    ownSpend: fc.option(spend),
  }),
  fc.record({
    kind: fc.constant('ack' as const),
    channel: uint32,
    accepted: fc.array(uint64, { maxLength: 5 }),
    rejections: fc.array(
      fc.record({ sequence: uint64, code, retryable: fc.boolean(), text: words }), { maxLength: 5 },
    ),
    epoch: uint64,
    credit: uint32,
    ownSpend: spend,
  }, { requiredKeys: ['kind', 'channel', 'accepted', 'rejections', 'epoch', 'credit'] }),
  fc.record({ kind: fc.constant('release' as const), body, signature: bytes(64) }),
  fc.record({ kind: fc.constant('head' as const), body, signature: bytes(64) }),
  fc.record({
    kind: fc.constant('notice' as const), studyId: bytes(32), state, epoch: uint64,
    closesInMs: uint64,
  }),
  fc.record({
    kind: fc.constant('refusal' as const),
    code,
    retryable: fc.boolean(),
    text: words,
    channel: uint32,
    studyId: fc.oneof(bytes(32), bytes(0)),
    publicKey: fc.oneof(bytes(32), bytes(0)),
  }),
);

const uncertainty = fc.oneof(
  fc.record({
    kind: fc.constant('gaussian' as const),
    standardDeviation: fc.array(double, { minLength: 1, maxLength: 12 }),
  }),
  fc.record({
    kind: fc.constant('laplace' as const), scale: fc.array(double, { minLength: 1, maxLength: 12 }),
  }),
  fc.record({ kind: fc.constant('relative' as const), operator: double }),
  fc.record({ kind: fc.constant('grid' as const), spacing: double }),
  fc.record({ kind: fc.constant('none' as const) }),
);
/** Ends of so many intervals: in order, and open on no side, on one or on both. */
const interval = (entries: number): fc.Arbitrary<Interval95> => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const ends = fc.oneof(
    fc.constant([-Infinity, Infinity] as const),
    finite.map((low) => [low, Infinity] as const),
    finite.map((high) => [-Infinity, high] as const),
    fc.tuple(finite, finite).map(([one, other]) =>
      [Math.min(one, other), Math.max(one, other)] as const),
  );
  return fc.array(ends, { minLength: entries, maxLength: entries }).map((pairs) =>
    ({ low: pairs.map(([low]) => low), high: pairs.map(([, high]) => high) }));
};
const finding = fc.record({
  reason: fc.oneof(fc.constantFrom<string>(...findingReasons), fc.constant('of-a-newer-server')),
  columns: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
  amounts: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 3 }),
});
/** An outcome that says what its numbers are. */
const described = (
  of: fc.Arbitrary<Outcome>,
): fc.Arbitrary<Outcome> => of.chain((each): fc.Arbitrary<Outcome> => {
  if (each.kind === 'refused') return fc.constant(each);
  const entries = each.estimate.length / (each.groups?.length ?? 1);
  return numbersOf(entries).map((numbers) => ({ ...each, numbers }));
});
const outcome = described(fc.oneof(
  fc.record({
    kind: fc.constant('refused' as const), reason: fc.constantFrom(...refusalReasons), text,
  }),
  fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }).chain((shape) => {
    const entries = shape.reduce((product, length) => product * length, 1);
    const numbers = fc.array(double, { minLength: entries, maxLength: entries });
    return fc.record(
      {
        kind: fc.constant('value' as const),
        estimate: numbers,
        shape: fc.constant(shape),
        uncertainty,
        interval95: interval(entries),
        intervalIfFalse95: interval(entries),
        radiusIfFalse95: fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-300 }),
        spread: fc.array(fc.double({ min: 0, max: 1e300, noNaN: true }), {
          minLength: columnsOfSamples, maxLength: columnsOfSamples,
        }),
        findings: fc.array(finding, { minLength: 1, maxLength: 4 }),
      },
      { requiredKeys: ['kind', 'estimate', 'shape', 'uncertainty'] },
    );
  }),
  fc.uniqueArray(fc.constantFrom('mean', 'covariance', 'weights', 'x1'), { minLength: 1 })
    .chain((names) => {
      const parts = names.map((name, i) => ({ name, shape: i === 0 ? [2] : [1, i + 1] }));
      const length = parts.reduce(
        (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0,
      );
      return fc.record({
        kind: fc.constant('value' as const),
        estimate: fc.array(double, { minLength: length, maxLength: length }),
        shape: fc.constant([length]),
        parts: fc.constant(parts),
        uncertainty,
      });
    }),
));
const keyed = described(fc.tuple(
  fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }),
).chain(([count, parts, each]) => fc.record({
  groups: fc.array(fc.array(text, { minLength: parts, maxLength: parts }), {
    minLength: count, maxLength: count,
  }),
  numbers: fc.array(double, { minLength: count * each, maxLength: count * each }),
  flags: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
  isRunning: fc.boolean(),
}).map(({ groups, numbers, flags, isRunning }) => ({
  kind: 'value', shape: each === 1 ? [count] : [count, each], groups,
  estimate: numbers.map((number, i) => (flags[Math.floor(i / each)]! ? number : 0)),
  uncertainty: { kind: 'none' },
  ...(flags.includes(false) && { answered: flags }),
  ...(isRunning && {
    running: {
      position: count, released: numbers.map((each) => (Number.isFinite(each) ? each : 0)),
    },
  }),
}))));
const answers = fc.array(fc.record({
  question: text, estimator: text, parameters: text, outcome: fc.oneof(outcome, keyed),
  rhoAmount: amount, deltaAmount: amount,
}), { minLength: 1, maxLength: 16 });
const releaseBody: fc.Arbitrary<wire.ReleaseFacts & wire.ShortAnswer> = fc.record({
  serverKey: bytes(32),
  studyId: bytes(32),
  index: uint64,
  epoch: uint64,
  study: text,
  estimator: text,
  parameters: text,
  participation: fc.constantFrom('secret', 'public'),
  outcome,
  cost: fc.record({ epsilon: double, delta: double, rhoAmount: amount, deltaAmount: amount }),
  ledger: fc.record({
    scope: fc.constantFrom('study', 'contributor', 'population'),
    rule: fc.constantFrom('zcdp', 'pure', 'renyi'),
    rhoSpent: amount,
    rhoCap: amount,
    deltaSpent: amount,
    deltaCap: amount,
    epsilonSpent: double,
    epsilonCap: double,
    windowMs: uint64.filter((window) => window > 0n),
  }, {
    requiredKeys: [
      'scope', 'rule', 'rhoSpent', 'rhoCap', 'deltaSpent', 'deltaCap', 'epsilonSpent', 'epsilonCap',
    ],
  }),
  previousDigest: bytes(64),
  mechanisms: text,
  closedAtMs: uint64,
  columns: fc.array(text, { minLength: columnsOfSamples, maxLength: columnsOfSamples }),
  cohort: uint64.filter((cohort) => cohort > 0n),
  guarantee: text.filter((words) => words !== ''),
}, {
  requiredKeys: [
    'serverKey', 'studyId', 'index', 'epoch', 'study', 'estimator', 'parameters', 'participation',
    'outcome', 'cost', 'ledger', 'previousDigest', 'mechanisms', 'closedAtMs', 'columns', 'cohort',
  ],
});

describe('frames and bodies', () => {
  it('reads back every client frame', () => {
    fc.assert(fc.property(clientFrame, (frame) => {
      expect(wire.decodeClientFrame(wire.encodeClientFrame(frame))).toEqual(frame);
    }), { numRuns: 300 });
  });

  it('reads back every server frame', () => {
    fc.assert(fc.property(serverFrame, (frame) => {
      expect(wire.decodeServerFrame(wire.encodeServerFrame(frame))).toEqual(frame);
    }), { numRuns: 300 });
  });

  it('reads back the frames of encrypted channels', () => {
    for (const frame of Object.values(samples.encryptedClientFrames)) {
      expect(wire.decodeClientFrame(wire.encodeClientFrame(frame))).toEqual(frame);
    }
    for (const frame of Object.values(samples.encryptedServerFrames)) {
      expect(wire.decodeServerFrame(wire.encodeServerFrame(frame))).toEqual(frame);
    }
  });

  it('reads back every release', () => {
    fc.assert(fc.property(releaseBody, (short) => {
      const release = wire.ofShortAnswer(short);
      expect(wire.decodeReleaseBody(wire.encodeReleaseBody(release))).toEqual(release);
    }), { numRuns: 300 });
    fc.assert(fc.property(releaseBody, answers, (release, list) => {
      const facts = without(release, 'estimator', 'parameters', 'outcome');
      const body = { ...facts, answers: list };
      expect(wire.decodeReleaseBody(wire.encodeReleaseBody(body))).toEqual(body);
    }), { numRuns: 100 });
  });

  it('reads back every head and batch', () => {
    const head = fc.record({
      serverKey: bytes(32), studyId: bytes(32), count: uint64, digest: bytes(64), state,
    });
    fc.assert(fc.property(head, (value) => {
      expect(wire.decodeHeadBody(wire.encodeHeadBody(value))).toEqual(value);
    }));
    const batch: fc.Arbitrary<wire.BatchBody> = fc.record({
      studyId: bytes(32),
      sequence: uint64.filter((sequence) => sequence > 0n),
      epoch: uint64.filter((epoch) => epoch > 0n),
      last: fc.boolean(),
      rows: uint32,
      columns: uint32,
      dataType: fc.constantFrom('float32', 'float64'),
      data: body,
    });
    fc.assert(fc.property(batch, (value) => {
      expect(wire.decodeBatchBody(wire.encodeBatchBody(value))).toEqual(value);
    }));
  });

  it('reads a frame inside a larger buffer, and keeps nothing of it', () => {
    const frame: wire.ClientFrame = {
      kind: 'batch', channel: 3, body: Uint8Array.of(1, 2, 3),
      signature: new Uint8Array(64).fill(7),
    };
    const encoded = wire.encodeClientFrame(frame);
    const slab = Buffer.alloc(encoded.length + 100, 0xee);
    slab.set(encoded, 37);
    const decoded = wire.decodeClientFrame(slab.subarray(37, 37 + encoded.length));
    slab.fill(0);
    expect(decoded).toEqual(frame);
    // Rounded up to whole doubles, so that a body's numbers are aligned.
    expect((decoded as wire.SignedBatch).body.buffer.byteLength).toBe(8);
    expect((decoded as wire.SignedBatch).body.constructor).toBe(Uint8Array);
  });

  it('gives every encoding memory of its own', () => {
    // A window into a pool would make each message to a worker copy the whole pool.
    const encodings = [
      ...Object.values(samples.clientFrames).map(wire.encodeClientFrame),
      ...Object.values(samples.encryptedClientFrames).map(wire.encodeClientFrame),
      ...Object.values(samples.serverFrames).map(wire.encodeServerFrame),
      ...Object.values(samples.encryptedServerFrames).map(wire.encodeServerFrame),
      wire.encodeBatchBody(samples.batchBody),
      wire.encodeReleaseBody(samples.releaseBody),
      wire.encodeHeadBody(samples.headBody),
    ];
    for (const encoding of encodings) {
      expect(encoding.constructor).toBe(Uint8Array);
      expect(encoding.buffer.byteLength).toBe(encoding.length);
    }
  });

  it('gives the data of a batch as a view of the body', () => {
    const encoded = wire.encodeBatchBody({
      studyId: new Uint8Array(32), sequence: 1n, epoch: 1n, last: true, rows: 1, columns: 1,
      dataType: 'float64', data: new Uint8Array(8),
    });
    expect(wire.decodeBatchBody(encoded).data.buffer).toBe(encoded.buffer);
  });

  it('numbers codes as the schema does', () => {
    const path = new URL('../../proto/keelson/v1/wire.proto', import.meta.url);
    const schema = readFileSync(path, 'utf8');
    const numbered = [...schema.matchAll(/^ {2}(CODE_\w+) = (\d+);/gm)]
      .map(([, name, number]) => [name, Number(number)]);
    expect(numbered).toEqual(wireCodes.map((name, i) =>
      [`CODE_${name.toUpperCase().replaceAll('-', '_')}`, i]));
  });
});
