import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { wireCodes } from '../../src/base/error-codes.js';
import { WireError } from '../../src/base/errors.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import * as wire from '../../src/wire/index.js';
import * as samples from '../support/wire-samples.js';
import { without } from '../support/without.js';

const decoders: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  clientFrame: wire.decodeClientFrame,
  serverFrame: wire.decodeServerFrame,
  batchBody: (bytes) => wire.batchRows(wire.decodeBatchBody(bytes)),
  releaseBody: wire.decodeReleaseBody,
  headBody: wire.decodeHeadBody,
  studyDocument: wire.decodeStudyDocument,
};

const valid: Readonly<Record<string, readonly Uint8Array[]>> = {
  clientFrame: Object.values({ ...samples.clientFrames, ...samples.encryptedClientFrames })
    .map(wire.encodeClientFrame),
  serverFrame: Object.values({ ...samples.serverFrames, ...samples.encryptedServerFrames })
    .map(wire.encodeServerFrame),
  batchBody: [samples.batchBytes],
  releaseBody: [samples.releaseBytes],
  headBody: [samples.headBytes],
  studyDocument: [samples.facts],
};

function refusesOrReads(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): void {
  try {
    decode(bytes);
  } catch (error) {
    if (!(error instanceof WireError) || error.code !== 'malformed') throw error;
  }
}

function malformed(decode: () => unknown): string {
  try {
    decode();
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    expect((error as WireError).code).toBe('malformed');
    expect((error as WireError).retryable).toBe(false);
    return (error as WireError).message;
  }
  throw new Error('nothing was thrown');
}

/** A protobuf field by hand: varint, or length-delimited. */
function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return Uint8Array.from([...bytes, Number(value)]);
}
function field(number: number, content: bigint | Uint8Array): Uint8Array {
  return typeof content === 'bigint'
    ? concatBytes(varint(BigInt(number << 3)), varint(content))
    : concatBytes(varint(BigInt((number << 3) | 2)), varint(BigInt(content.length)), content);
}

const id = new Uint8Array(32).fill(1);
const signature = new Uint8Array(64).fill(2);
const batch = (...extra: Uint8Array[]): Uint8Array =>
  field(2, concatBytes(field(1, 1n), field(2, Uint8Array.of(9)), field(3, signature), ...extra));

describe.each(Object.keys(decoders))('hostile bytes for %s', (name) => {
  const decode = decoders[name]!;

  it('throws nothing but malformed on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => refusesOrReads(decode, bytes)), {
        numRuns: 2000,
      },
    );
  });

  it('throws nothing but malformed on damaged messages', () => {
    const edit = fc.record({
      at: fc.nat(), bytes: fc.uint8Array({ maxLength: 6 }), removed: fc.nat({ max: 6 }),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...valid[name]!), fc.array(edit, { maxLength: 3 }), (bytes, edits) => {
          let damaged = bytes;
          for (const { at, bytes: inserted, removed } of edits) {
            const start = at % (damaged.length + 1);
            damaged =
              concatBytes(damaged.subarray(0, start), inserted, damaged.subarray(start + removed));
          }
          refusesOrReads(decode, damaged);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('refuses every message that is cut short', () => {
    for (const bytes of valid[name]!) {
      for (let length = 0;
          length < bytes.length; length++) malformed(() => decode(bytes.subarray(0, length)));
    }
  });

  it('refuses trailing garbage, also when it looks like a field', () => {
    for (const bytes of valid[name]!) {
      for (const rest of [
        Uint8Array.of(0), Uint8Array.of(255), field(100, 1n), field(99, id), utf8(' '),
      ]) {
        malformed(() => decode(concatBytes(bytes, rest)));
      }
    }
  });
});

describe('hostile frames', () => {
  it('accepts the frame that the cases below are built from', () => {
    expect(wire.decodeClientFrame(batch())).toMatchObject({ kind: 'batch', channel: 1 });
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(0), /kind of client frame is missing/],
    ['an unknown field inside', batch(field(9, 1n)), /does not define/],
    [
      'a field of another wire type', field(2, concatBytes(field(1, id), field(3, signature))),
      /does not define/,
    ],
    ['a short signature', batch(field(3, signature.subarray(1))), /signature has 63 bytes, not 64/],
    [
      'a long signature', batch(field(3, concatBytes(id, id, id))),
      /signature has 96 bytes, not 64/,
    ],
    [
      'a length past the end', concatBytes(varint(18n), varint(2n ** 31n - 1n)),
      /not a client frame/,
    ],
    ['a length past 2^32', concatBytes(varint(18n), varint(2n ** 40n)), /not a client frame/],
    ['a group', Uint8Array.of(0x0b, 0x0b, 0x0b, 0x0c), /does not define/],
    ['a short study id', field(4, field(1, id.subarray(1))), /study id has 31 bytes/],
  ])('refuses %s', (_, bytes, message) => {
    expect(malformed(() => wire.decodeClientFrame(bytes))).toMatch(message);
  });

  it('takes the last of two kinds, as every protobuf reader does', () => {
    const frame = wire.decodeClientFrame(concatBytes(batch(), field(4, field(1, id))));
    expect(frame).toEqual({ kind: 'unsubscribe', studyId: id });
  });

  it('refuses nesting without end', () => {
    let nested = new Uint8Array(0) as Uint8Array;
    for (let depth = 0; depth < 2000; depth++) nested = field(1, nested);
    malformed(() => wire.decodeServerFrame(nested));
    malformed(() => wire.decodeClientFrame(new Uint8Array(1_000_000).fill(0x0b)));
  });

  it('refuses a frame of countless empty parts', () => {
    const studies = new Uint8Array(200_000);
    for (let i = 0; i < studies.length; i += 2) studies[i] = 0x22;
    expect(malformed(() => wire.decodeServerFrame(field(1, studies))))
      .toMatch(/more than 40960 parts/);
    const holes = field(7, new Uint8Array(100_000));
    expect(malformed(() => wire.decodeServerFrame(field(2, holes))))
      .toMatch(/more than 40960 parts/);
  });

  it('refuses text that is not UTF-8', () => {
    const refusal = field(7, concatBytes(field(1, 1n), field(3, Uint8Array.of(0xc3, 0x28))));
    malformed(() => wire.decodeServerFrame(refusal));
  });

  it('refuses unknown enum values', () => {
    const next = wireCodes.length;
    expect(malformed(() => wire.decodeServerFrame(field(7, field(1, BigInt(next))))))
      .toContain(`code ${next} is not defined`);
    malformed(() => wire.decodeServerFrame(field(7, field(1, 2n ** 64n - 1n))));
    const notice = (state: bigint): Uint8Array =>
      field(6, concatBytes(field(1, id), field(2, state)));
    expect(wire.decodeServerFrame(notice(3n))).toMatchObject({ state: 'ended' });
    expect(malformed(() => wire.decodeServerFrame(notice(4n)))).toMatch(/study state/);
    expect(malformed(() => wire.decodeServerFrame(notice(0n)))).toMatch(/study state/);
    const body = (type: bigint): Uint8Array =>
      concatBytes(field(1, id), field(2, 1n), field(3, 1n), field(7, type));
    expect(wire.decodeBatchBody(body(1n)).dataType).toBe('float32');
    expect(malformed(() => wire.decodeBatchBody(body(3n)))).toMatch(/data type/);
    expect(malformed(() => wire.decodeBatchBody(body(0n)))).toMatch(/data type/);
  });

  it('refuses a batch without a sequence', () => {
    expect(malformed(() => wire.decodeBatchBody(concatBytes(field(1, id), field(7, 1n)))))
      .toMatch(/begin at 1/);
    expect(malformed(() => wire.encodeBatchBody({ ...samples.batchBody, sequence: 0n })))
      .toMatch(/begin at 1/);
    expect(malformed(() => wire.encodeBatchBody({ ...samples.batchBody, epoch: 0n })))
      .toMatch(/begin at 1/);
    // Field 3 with the value 7; a field that is left out is 0.
    for (const zero of ['', '1800']) {
      const bytes = fromHex(toHex(samples.batchBytes).replace('10011807', `1001${zero}`));
      expect(malformed(() => wire.decodeBatchBody(bytes))).toMatch(/begin at 1/);
    }
  });
});

describe('hostile releases', () => {
  const changed = (change: Partial<samples.ShortRelease>): (() => Uint8Array) =>
    () => wire.encodeReleaseBody(wire.ofShortAnswer({ ...samples.shortRelease, ...change }));
  const value = samples.shortRelease.outcome as ValueOutcome;

  it('refuses to write what it would not read', () => {
    expect(malformed(changed({ index: -1n }))).toMatch(/index/);
    expect(malformed(changed({ epoch: 2n ** 64n }))).toMatch(/epoch/);
    expect(malformed(changed({ studyId: id.subarray(1) }))).toMatch(/study id/);
    expect(malformed(changed({ previousDigest: id }))).toMatch(/previous digest/);
    expect(malformed(changed({ outcome: { ...value, shape: [3] } }))).toMatch(/shape 3/);
    expect(malformed(changed({ outcome: { ...value, interval95: { low: [1], high: [2] } } })))
      .toMatch(/interval/);
    for (const parts of [
      [{ name: 'Mean', shape: [2] }], [{ name: '__proto__', shape: [2] }],
      [{ name: 'a', shape: [1, 2] }], [{ name: 'a', shape: [1] }, { name: 'a', shape: [1] }],
      [{ name: 'a', shape: [1] }], [{ name: 'a', shape: [0] }],
      [{ name: 'a', shape: [1] }, { name: 'b', shape: [2] }],
    ]) expect(malformed(changed({ outcome: { ...value, parts } }))).toMatch(/parts/);
    expect(malformed(changed({ cost: { ...samples.releaseBody.cost, rhoAmount: -1n } })))
      .toMatch(/amount/);
    malformed(() => wire.encodeClientFrame({ kind: 'batch', channel: -1, body: id, signature }));
    malformed(() =>
      wire.encodeClientFrame({ kind: 'batch', channel: 2 ** 32, body: id, signature }));
    malformed(() => wire.encodeClientFrame({ kind: 'batch', channel: 1, body: id, signature: id }));
  });

  it('refuses intervals, spreads and findings that cannot be', () => {
    const both = { low: [1, 2], high: [3, 4] };
    const finding = { reason: 'skewed', columns: [0], amounts: [1] };
    const fine = {
      ...value, intervalIfFalse95: both, radiusIfFalse95: 1, spread: [0, 1], findings: [finding],
    };
    expect(changed({ outcome: fine })).not.toThrow();
    for (const interval of [
      { low: [1], high: [3, 4] }, { low: [1, 2], high: [3] }, { low: [1, 5], high: [3, 4] },
      { low: [1, NaN], high: [3, 4] }, { low: [1, -Infinity], high: [3, -Infinity] },
      { low: [1, 2], high: [3, NaN] }, { low: [1, Infinity], high: [3, -Infinity] },
      { low: [1, Infinity], high: [3, Infinity] },
    ]) {
      expect(malformed(changed({ outcome: { ...fine, interval95: interval } })))
        .toMatch(/interval/);
      expect(malformed(changed({ outcome: { ...fine, intervalIfFalse95: interval } })))
        .toMatch(/interval/);
    }
    for (const radiusIfFalse95 of [NaN, -1, Infinity]) {
      expect(malformed(changed({ outcome: { ...fine, radiusIfFalse95 } }))).toMatch(/radius/);
    }
    for (const spread of [[1], [1, NaN], [1, -1], [1, Infinity], [1, 1, 1]]) {
      expect(malformed(changed({ outcome: { ...fine, spread } }))).toMatch(/spread/);
    }
    for (const change of [
      { reason: '' }, { reason: 'Skewed' }, { reason: 'a b' }, { reason: 'x'.repeat(65) },
      { reason: 'skewed\n' }, { columns: [2] }, { columns: [0.5] }, { columns: [-1] },
      { amounts: [NaN] }, { amounts: [Infinity] },
    ]) {
      const findings = [{ ...finding, ...change }];
      expect(malformed(changed({ outcome: { ...fine, findings } }))).toMatch(/finding/);
    }
    const many = Array.from({ length: 65 }, () => finding);
    expect(malformed(changed({ outcome: { ...fine, findings: many } }))).toMatch(/more than 64/);
  });

  it('checks what it reads of them as well', () => {
    // Outcome (9), value (1): members more than the sample has.
    const planted = (member: Uint8Array): (() => unknown) => () => wire.decodeReleaseBody(
      concatBytes(samples.releaseBytes, field(9, field(1, member))),
    );
    const double = (...entries: readonly number[]): Uint8Array =>
      new Uint8Array(Float64Array.from(entries).buffer);
    expect(malformed(planted(field(7, double(1, 2))))).toMatch(/interval/);
    expect(malformed(planted(field(10, double(1))))).toMatch(/spread/);
    expect(malformed(planted(field(11, field(1, utf8('NO')))))).toMatch(/finding/);
    expect(planted(field(11, field(1, utf8('of-a-newer-server'))))).not.toThrow();
  });

  it('refuses to read parts that do not make up the estimate', () => {
    // Outcome (9), value (1): a part (6) more than the sample has.
    const planted = (name: string, shape: Uint8Array): Uint8Array =>
      concatBytes(samples.partsBytes, field(
        9, field(1, field(6, concatBytes(field(1, utf8(name)), field(2, shape)))),
      ));
    expect(malformed(() => wire.decodeReleaseBody(planted('more', Uint8Array.of(1)))))
      .toMatch(/make up 7, not 6/);
    expect(malformed(() => wire.decodeReleaseBody(planted('mean', Uint8Array.of(1)))))
      .toMatch(/two parts/);
    expect(malformed(() => wire.decodeReleaseBody(planted('', Uint8Array.of(1)))))
      .toMatch(/name of a part/);
  });

  it('refuses answers that are no list, or beside another answer', () => {
    const { answersBody: body, answersBytes: bytes } = samples;
    const [first] = body.answers;
    const of = (answers: readonly wire.Answer[]) => malformed(() =>
      wire.encodeReleaseBody({ ...body, answers }));
    expect(of([])).toMatch(/0 answers, not 1 to 16/);
    expect(of(Array.from({ length: 17 }, () => first!))).toMatch(/17 answers/);
    expect(of([{ ...first!, rhoAmount: -1n }])).toMatch(/amount/);
    expect(of([{ ...first!, parameters: 'x'.repeat(5 * 2 ** 20) }])).toMatch(/more than 5242880/);
    const planted = (bytesOf: Uint8Array) => malformed(() =>
      wire.decodeReleaseBody(concatBytes(bytes, bytesOf)));
    for (const number of [6, 7]) {
      expect(planted(field(number, utf8('x')))).toMatch(/another answer beside it/);
    }
    expect(planted(field(9, field(2, field(1, utf8('interrupted')))))).toMatch(/beside it/);
    expect(planted(field(18, field(1, utf8('more'))))).toMatch(/outcome/);
    expect(planted(field(13, new Uint8Array(5 * 2 ** 20)))).toMatch(/more than 5242880/);
  });

  it('refuses groups that do not split the answer', () => {
    const [, regions] = samples.answersBody.answers;
    const split = regions!.outcome as ValueOutcome;
    const of = (change: Partial<ValueOutcome>) => malformed(() => wire.encodeReleaseBody({
      ...samples.answersBody, answers: [{ ...regions!, outcome: { ...split, ...change } }],
    }));
    const keys = split.groups!;
    for (const wrong of [[], keys.slice(1), keys.map(() => []), keys.map(() => ['', '', '', '']),
      [['one'], ...keys.slice(1)]]) {
      expect(of({ groups: wrong })).toMatch(/split by its groups/);
    }
    const many = Array.from({ length: 4097 }, (_, i) => [String(i)]);
    const plain = without(split, 'answered', 'interval95');
    const wide = { ...plain, groups: many, shape: [4097], estimate: many.map(() => 0) };
    const answer = { ...regions!, outcome: wide };
    expect(malformed(() => wire.encodeReleaseBody({ ...samples.answersBody, answers: [answer] })))
      .toMatch(/4097 groups/);
    const half = {
      ...plain, groups: many.slice(0, 2049), shape: [2049], estimate: wide.estimate.slice(0, 2049),
    };
    const two = [{ ...regions!, outcome: half }, { ...regions!, outcome: half }];
    expect(malformed(() => wire.encodeReleaseBody({ ...samples.answersBody, answers: two })))
      .toMatch(/4098 groups/);
  });

  it('refuses flags and places of totals that do not fit the numbers', () => {
    const [, regions] = samples.answersBody.answers;
    const split = regions!.outcome as ValueOutcome;
    const bodyOf = (outcome: ValueOutcome) =>
      ({ ...samples.answersBody, answers: [{ ...regions!, outcome }] });
    const of = (change: Partial<ValueOutcome>) => malformed(() =>
      wire.encodeReleaseBody(bodyOf({ ...split, ...change })));
    expect(of({ answered: [true] })).toMatch(/one flag for each group/);
    expect(of({ answered: split.groups!.map(() => true) })).toMatch(/every group has an answer/);
    expect(of({ estimate: split.estimate.map(() => 1) })).toMatch(/without an answer/);
    expect(of({ interval95: { low: split.estimate, high: split.estimate } }))
      .toMatch(/without an answer/);
    const { estimate } = split;
    expect(of({ running: { position: 0, released: estimate.slice(1) } })).toMatch(/running total/);
    expect(of({ running: { position: 0, released: estimate.map(() => NaN) } }))
      .toMatch(/running total/);
    expect(of({ running: { position: -1, released: estimate } })).toMatch(/running total/);
    const bare = without(split, 'groups');
    expect(malformed(() => wire.encodeReleaseBody(bodyOf(bare)))).toMatch(/without groups/);
    // Six flags are one byte: 0b111011, as field 13 of a value.
    const good = toHex(wire.encodeReleaseBody(bodyOf(split)));
    expect(good).toContain('6a013b');
    for (const [flags, why] of [['6a01fb', /unused bits/], ['6a013f', /every group/]] as const) {
      const bytes = fromHex(good.replace('6a013b', flags));
      expect(malformed(() => wire.decodeReleaseBody(bytes))).toMatch(why);
    }
  });

  it('refuses amounts that are not plain decimal integers', () => {
    // A singular sub-message that comes twice is merged, the later field wins: enough to plant a
    // text.
    const planted = (text: string): Uint8Array =>
      concatBytes(samples.releaseBytes, field(10, field(3, utf8(text))));
    expect(wire.decodeReleaseBody(planted('17')).cost.rhoAmount).toBe(17n);
    for (const text of ['0x10', '01', '-1', '1e3', ' 1', '1'.repeat(40)]) {
      expect(malformed(() => wire.decodeReleaseBody(planted(text)))).toMatch(/amount/);
    }
  });

  it('refuses names outside the closed lists', () => {
    const planted = (number: number, content: Uint8Array): Uint8Array =>
      concatBytes(samples.releaseBytes, field(number, content));
    expect(malformed(() => wire.decodeReleaseBody(planted(8, utf8('hidden')))))
      .toMatch(/participation/);
    expect(malformed(() => wire.decodeReleaseBody(planted(11, field(1, utf8('world'))))))
      .toMatch(/scope/);
    expect(malformed(() => wire.decodeReleaseBody(planted(9, field(2, field(1, utf8('x')))))))
      .toMatch(/reason/);
  });
});

describe('a server\'s words', () => {
  it('cannot steer the terminal they are shown on', () => {
    const text = 'plain ü ملف \u001b[2J\u009b31m\r\n\u202e\u0007';
    const safe = 'plain ü ملف \ufffd[2J\ufffd31m\ufffd\ufffd\ufffd\ufffd';
    const noBytes = new Uint8Array(0);
    const refusal = {
      kind: 'refusal', code: 'internal', retryable: true, text, channel: 0, studyId: noBytes,
      publicKey: noBytes,
    } as const;
    expect(wire.decodeServerFrame(wire.encodeServerFrame(refusal))).toMatchObject({ text: safe });
    const rejections = [{ sequence: 1n, code: 'mutated', retryable: false, text }] as const;
    const ack = {
      kind: 'ack', channel: 1, accepted: [1n], rejections, epoch: 1n, credit: 1,
    } as const;
    expect(wire.decodeServerFrame(wire.encodeServerFrame(ack)))
      .toMatchObject({ rejections: [{ text: safe }] });
  });
});
