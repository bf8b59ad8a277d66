import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openBytes, sealBytes } from '../../server/base/sealed-bytes.js';
import {
  openRow, openSecret, rowExtraBytes, sealRow, sealSecret, type RowPlace,
} from '../../server/store/postgres/row-seal.js';
import { idOf } from '../support/store-fixtures.js';

const key = createSecretKey(randomBytes(32));
const signature = new Uint8Array(64).fill(5);
const body = new Uint8Array(Buffer.from('a row'));
const place: RowPlace = {
  studyId: idOf('s'), epoch: 12n, position: 345n, contributor: idOf('a'), sequence: 6n,
  complete: false,
};

describe('a sealed row', () => {
  it('opens with its key at its place, and has nothing in the clear', () => {
    const sealed = sealRow(key, place, signature, body);
    expect(sealed.length).toBe(body.length + rowExtraBytes);
    expect(Buffer.from(sealed).includes('a row')).toBe(false);
    expect(Buffer.from(sealed).includes(Buffer.from(signature.subarray(0, 8)))).toBe(false);
    expect(openRow(key, place, sealed)).toEqual({ signature, body });
  });

  it.each<Partial<RowPlace>>([
    { studyId: idOf('t') }, { epoch: 13n }, { position: 346n }, { contributor: idOf('b') },
    { sequence: 7n }, { complete: true }, { epoch: 1n, position: 2_345n },
  ])('does not open at another place: %o', (other) => {
    const sealed = sealRow(key, place, signature, body);
    expect(() => openRow(key, { ...place, ...other }, sealed)).toThrow(/does not open/);
  });

  it('does not open with another key, or when a bit of it was changed', () => {
    const sealed = sealRow(key, place, signature, body);
    expect(() => openRow(createSecretKey(randomBytes(32)), place, sealed)).toThrow(/changed by hand/);
    for (let at = 0; at < sealed.length; at += 7) {
      const changed = sealed.slice();
      changed[at]! ^= 4;
      expect(() => openRow(key, place, changed)).toThrow(/changed by hand/);
    }
    expect(() => openRow(key, place, sealed.subarray(0, 20))).toThrow(/changed by hand/);
  });
});

describe('sealed bytes', () => {
  it('have a nonce that comes once', () => {
    const nonces = Array.from({ length: 2_000 }, () =>
      Buffer.from(sealBytes(key, 'x', body).subarray(0, 12)).toString('hex'));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('keep their nonce when more are sealed', () => {
    const first = sealBytes(key, 'x', body);
    for (let i = 0; i < 600; i++) sealBytes(key, 'x', body);
    expect(openBytes(key, 'x', first)).toEqual(body);
  });
});

describe('a sealed secret', () => {
  const secret = new Uint8Array(32).fill(7);

  it('opens as itself in its epoch, and stays empty when it is empty', () => {
    const sealed = sealSecret(key, idOf('s'), 1n, 'assignment', secret);
    expect(openSecret(key, idOf('s'), 1n, 'assignment', sealed)).toEqual(secret);
    expect(() => openSecret(key, idOf('s'), 1n, 'fingerprint', sealed)).toThrow(/does not open/);
    expect(() => openSecret(key, idOf('s'), 2n, 'assignment', sealed)).toThrow(/does not open/);
    expect(() => openSecret(key, idOf('t'), 1n, 'assignment', sealed)).toThrow(/does not open/);
    expect(sealSecret(key, idOf('s'), 1n, 'seed', new Uint8Array(0)).length).toBe(0);
  });
});
