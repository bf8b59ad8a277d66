import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSealed } from '../../src/base/wrappers.js';
import { toHex } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import {
  bodyBytes, decodeBody, encodeBody, servers, type EntryBody, type ServerIndex,
} from '../../src/sealed/shares/body.js';
import { columnGrid, stepsOfRow } from '../../src/sealed/shares/column-grid.js';
import {
  combined, packValues, unpackValues, type ShareForm,
} from '../../src/sealed/shares/form.js';
import { openEntry, type OpeningOptions, type RowShare } from '../../src/sealed/shares/opening.js';
import { sealEntry } from '../../src/sealed/shares/sealing.js';
import { UnusableEntryError, type UnusableReason } from '../../src/sealed/shares/unusable.js';
import { boxKeysOf } from '../../src/signing/boxes.js';
import { signBatch } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';

const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const numbers: ShareForm = { kind: 'numbers', count: 10, bits: 16 };
const bin: ShareForm = { kind: 'bin', count: 1, bits: 6 };
const contributor = signing.createSigner(filled(7));
const other = signing.createSigner(filled(8));
const frontKey = signing.createSigner(filled(9)).publicKey;
const secrets = servers.map((server) => filled(20 + server));
const boxKeys = secrets.map((secret) => boxKeysOf(secret).publicKey);
const place = { studyId: filled(3), epoch: 5n, sequence: 1n };

const seal = (values: Uint32Array, form: ShareForm, who = contributor, where = place): Uint8Array =>
  sealEntry(signing, [values], {
    forms: [form], place: where, contributorKey: who.publicKey, boxKeys,
  });

function open(
  server: ServerIndex, body: Uint8Array, form: ShareForm,
  { who = contributor, by = who, ...changed }:
  Partial<OpeningOptions> & { who?: typeof contributor; by?: typeof contributor } = {},
): RowShare {
  const context = { serverKey: frontKey, studyId: place.studyId };
  const [share] = openEntry(
    signing, signing.createVerifier(who.publicKey), body,
    signBatch(by, context, signing.sha512(body)),
    { server, forms: [form], boxSecret: secrets[server]!, frontKey, ...place, ...changed },
  );
  return openSealed(share!);
}

function reasonOf(work: () => unknown): UnusableReason | null {
  try {
    work();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(UnusableEntryError);
    return (error as UnusableEntryError).reason;
  }
}

/** The body with one of its fields changed. */
function changed(body: Uint8Array, change: (entry: EntryBody) => Partial<EntryBody>): Uint8Array {
  const entry = decodeBody(body, [numbers]);
  return encodeBody({ ...entry, ...change(entry) });
}

describe('rows in shares', () => {
  it.each([numbers, bin])('are put together from any two servers', (form) => {
    fc.assert(fc.property(
      fc.array(fc.nat(2 ** form.bits - 1), { minLength: form.count, maxLength: form.count }),
      (list) => {
        const values = Uint32Array.from(list);
        const body = seal(values, form);
        const shares = servers.map((server) => open(server, body, form));
        servers.forEach((server) =>
          expect(shares[server]!.next).toEqual(shares[(server + 1) % 3]!.own));
        const [a, b, c] = shares.map(({ own }) => own);
        expect(combined(combined(a!, b!, form), c!, form)).toEqual(values);
      },
    ), { numRuns: 4, seed: 22 });
  });

  it('are packed without gaps', () => {
    const form: ShareForm = { kind: 'numbers', count: 3, bits: 20 };
    const values = Uint32Array.of(0xfffff, 0x12345, 1);
    expect(toHex(packValues(values, form))).toBe('ffff5f34120100' + '00');
    expect(unpackValues(packValues(values, form), form)).toEqual(values);
  });

  it('take at most 700 bytes with their signature, for ten columns', () => {
    expect(bodyBytes([numbers]) + 64).toBe(616);
    expect(seal(new Uint32Array(10), numbers).length).toBe(bodyBytes([numbers]));
  });

  it.each<[string, Uint32Array, ShareForm]>([
    ['too few values', new Uint32Array(9), numbers],
    ['a value past its bits', Uint32Array.from({ length: 10 }, () => 65_536), numbers],
    ['too many columns', new Uint32Array(66), { kind: 'numbers', count: 66, bits: 16 }],
    ['too many bits', new Uint32Array(1), { kind: 'bin', count: 1, bits: 9 }],
  ])('are not made of %s', (_, values, form) => {
    expect(() => seal(values, form)).toThrow(InvalidParameterError);
  });
});

describe('an entry that a server cannot use', () => {
  const body = seal(Uint32Array.from({ length: 10 }, (_, i) => 100 * i), numbers);
  const copy = (from: Uint8Array, server: number) => (entry: EntryBody): Partial<EntryBody> => {
    const { ephemeralKey, boxes } = decodeBody(from, [numbers]);
    return {
      ephemeralKey, boxes: entry.boxes.map((box, i) => (i === server ? boxes[i]! : box)),
    };
  };

  it('has a reason', () => {
    expect(reasonOf(() => open(0, body, numbers))).toBeNull();
    expect(reasonOf(() => open(0, body.subarray(1), numbers))).toBe('length');
    expect(reasonOf(() => open(0, new Uint8Array(0), numbers))).toBe('length');
    expect(reasonOf(() => open(1, body, bin))).toBe('length');
    expect(reasonOf(() => open(1, body, numbers, { studyId: filled(4) }))).toBe('study');
    expect(reasonOf(() => open(1, body, numbers, { epoch: 6n }))).toBe('epoch');
    expect(reasonOf(() => open(1, body, numbers, { by: other }))).toBe('signature');
    expect(reasonOf(() => open(1, body, numbers, { frontKey: filled(1) }))).toBe('signature');
    expect(reasonOf(() => open(1, body, numbers, { boxSecret: filled(1) }))).toBe('box');
  });

  it.each(servers)('has a box of another entry: server %i', (server) => {
    // As its own, in a later epoch, or twice.
    for (const [who, where] of [
      [other, place], [contributor, { ...place, epoch: 4n }],
      [contributor, { ...place, sequence: 2n }],
    ] as const) {
      const old = seal(new Uint32Array(10), numbers, who, where);
      expect(reasonOf(() => open(server, changed(body, copy(old, server)), numbers)))
        .toBe('copied');
    }
  });

  it.each(servers)('commits to other shares: component %i', (component) => {
    const false1 = changed(body, ({ commitments }) => ({
      commitments: commitments.map((one, i) => (i === component ? filled(1) : one)),
    }));
    const reasons = servers.map((server) => reasonOf(() => open(server, false1, numbers)));
    // Both holders of the component see it, and the third cannot.
    expect(reasons).toEqual(servers.map((server) =>
      (server === component || (server + 1) % 3 === component ? 'commitment' : null)));
  });
});

describe('the grid of columns', () => {
  it('is the finest on which every range fits', () => {
    const grid = columnGrid([[0, 480], [0, 256]], [2, 8], 16);
    expect(grid.spreadBits).toBe(8);
    expect(grid.steps).toEqual(Float64Array.of(2 / 256, 8 / 256));
    expect(stepsOfRow([0, 256], grid)).toEqual(Uint32Array.of(1024, 9216));
    // The first and the last 1024 steps are for what is outside.
    expect(stepsOfRow([-1, 1e300], grid)).toEqual(Uint32Array.of(1023, 64_512));
    expect(stepsOfRow([-Infinity, Infinity], grid)).toEqual(Uint32Array.of(1023, 64_512));
    expect(columnGrid([[0, 496]], [2], 16).spreadBits).toBe(7);
  });

  it.each<[string, () => unknown]>([
    ['a range that is too wide', () => columnGrid([[0, 1026]], [2], 16)],
    ['a range beyond what rows hold', () => columnGrid([[0, 1e20]], [1e18], 16)],
    ['too few bits', () => columnGrid([[0, 20]], [1], 8)],
    ['a range that falls', () => columnGrid([[1, 0]], [1], 16)],
    ['a spread too few', () => columnGrid([[0, 1], [0, 1]], [1], 16)],
    ['a row of another length', () => stepsOfRow([1], columnGrid([[0, 1], [0, 1]], [1, 1]))],
    ['a row with no number', () => stepsOfRow([NaN], columnGrid([[0, 1]], [1]))],
  ])('refuses %s', (_, work) => {
    expect(work).toThrow(InvalidParameterError);
  });
});
