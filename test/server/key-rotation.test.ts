import {
  existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { rotateServerKey, type RotationStore } from '../../server/keys/key-rotation.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import type { Store, StudyRecord } from '../../server/store/contract.js';
import { toHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import {
  keyChain, keysOfRotation, signRotation, type KeyRotation,
} from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';

let directory: string;
let store: Store & RotationStore;
const file = (name: string): string => join(directory, name);
const keyIn = (name: string): string => readFileSync(file(name), 'utf8').trim();
const publicOf = (seed: string): Uint8Array =>
  signing.createSigner(Uint8Array.from(Buffer.from(seed, 'hex'))).publicKey;
const inForce = async (): Promise<Uint8Array> =>
  signing.createSigner(openServerKeys(directory, await store.rotations()).seed).publicKey;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-rotation-'));
  store = await openInlineSqliteStore({ directory, clock: systemClock }) as Store & RotationStore;
  openServerKeys(directory);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The folder as a crash would leave it: `broken` throws where the process dies. */
const rotate = (over: Partial<RotationStore> = {}): Promise<KeyRotation> =>
  rotateServerKey(file('server.key'), {
    rotations: () => store.rotations(),
    addRotation: (record, nowMs) => store.addRotation(record, nowMs),
    studies: () => store.studies(), releases: (...which) => store.releases(...which), ...over,
  }, 1);

describe('a change of the server\'s key', () => {
  it('leaves the next key, a record that both signed, and nothing of the old one', async () => {
    const old = keyIn('server.key');
    const rotation = await rotate();
    expect(keysOfRotation(rotation).previousKey).toEqual(publicOf(old));
    expect(await inForce()).toEqual(keysOfRotation(rotation).nextKey);
    expect(await store.rotations()).toEqual([rotation]);
    expect(statSync(file('server.key')).mode & 0o777).toBe(0o600);
    const names = readdirSync(directory);
    expect(names.filter((name) => name.startsWith('server.key'))).toEqual(['server.key']);
    for (const name of names) {
      const bytes = readFileSync(file(name));
      expect(bytes.includes(old) || bytes.includes(Buffer.from(old, 'hex')), name).toBe(false);
    }
    const second = await rotate();
    expect(keyChain([rotation, second], await inForce(), signing)).toHaveLength(3);
  });

  it('cut short before its record is durable, leaves the old key in force', async () => {
    const old = keyIn('server.key');
    await expect(rotate({ addRotation: () => Promise.reject(new Error('dead')) })).rejects
      .toThrow('dead');
    expect(existsSync(file('server.key.next'))).toBe(true);
    expect(await inForce()).toEqual(publicOf(old));
    expect(existsSync(file('server.key.next'))).toBe(false);
    // And the next try is a whole one.
    expect(await inForce()).not.toEqual(keysOfRotation(await rotate()).nextKey);
  });

  it('cut short after its record is durable, leaves the next key in force, whichever step was the '
    + 'last', async () => {
    const old = keyIn('server.key');
    await expect(rotate({
      addRotation: async (record, nowMs) => {
        await store.addRotation(record, nowMs);
        throw new Error('dead');
      },
    })).rejects.toThrow('dead');
    const { nextKey } = keysOfRotation((await store.rotations())[0]!);
    const settled = async (): Promise<void> => {
      expect(await inForce()).toEqual(nextKey);
      expect(readdirSync(directory).filter((name) => name.startsWith('server.key')))
        .toEqual(['server.key']);
    };
    const next = keyIn('server.key.next');
    const folders: Readonly<Record<string, string>>[] = [
      { 'server.key': old, 'server.key.next': next },
      { 'server.key': old, 'server.key.next': next, 'server.key.old': old },
      { 'server.key': next, 'server.key.old': old },
      { 'server.key': next, 'server.key.old': '\0'.repeat(65) },
      { 'server.key': next },
    ];
    for (const files of folders) {
      for (const name of ['server.key', 'server.key.next', 'server.key.old']) {
        rmSync(file(name), { force: true });
      }
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(file(name), `${text}\n`, { mode: 0o600 });
      }
      await settled();
    }
  });

  it('goes on where the erasing of a next key that never was in force had been cut '
    + 'off', async () => {
    await rotate();
    const now = keyIn('server.key');
    writeFileSync(file('server.key.next'), '\0'.repeat(65), { mode: 0o600 });
    expect(await inForce()).toEqual(publicOf(now));
    expect(existsSync(file('server.key.next'))).toBe(false);
  });

  it('erases no next key, readable or not, while the one in force is missing', async () => {
    const old = keyIn('server.key');
    await rotate();
    writeFileSync(file('server.key'), `${old}\n`);
    writeFileSync(file('server.key.next'), 'damaged', { mode: 0o600 });
    await expect(inForce()).rejects.toThrow('last change of keys');
    expect(keyIn('server.key.next')).toBe('damaged');
  });

  it('erases the bytes of the old key where they are, not only their name', async () => {
    const { linkSync } = await import('node:fs');
    linkSync(file('server.key'), file('witness'));
    await rotate();
    expect(readFileSync(file('witness'))).toEqual(Buffer.alloc(65));
  });

  it('refuses a key file that is not the one that the records lead to, and erases '
    + 'nothing', async () => {
    const old = keyIn('server.key');
    await rotate();
    writeFileSync(file('server.key'), `${old}\n`);
    const rotations = await store.rotations();
    expect(() => openServerKeys(directory, rotations)).toThrow('last change of keys');
    expect(keyIn('server.key')).toBe(old);
    renameSync(file('server.key'), file('elsewhere'));
    expect(() => openServerKeys(directory, rotations)).toThrow('missing');
    expect(existsSync(file('server.key'))).toBe(false);
  });

  it('is refused where a sealed study has not ended, and nothing is changed', async () => {
    const old = keyIn('server.key');
    const studies = (state: StudyRecord['state'], sealed?: object) => async () => [{
      studyId: '', name: 'commute', document: JSON.stringify({ sealed }), state, budgetKey: '',
      releaseCount: 0, lastDigest: '', lastEpoch: 0n,
    }];
    const names = readdirSync(directory);
    for (const state of ['open', 'exhausted'] as const) {
      await expect(rotate({ studies: studies(state, {}) })).rejects.toMatchObject({
        code: 'invalid-input', details: { studies: ['commute'] },
        message: expect.stringContaining('begin a new study') as string,
      });
    }
    expect([keyIn('server.key'), readdirSync(directory)]).toEqual([old, names]);
    expect(await store.rotations()).toEqual([]);
    await rotate({ studies: studies('ended', {}) });
    await rotate({ studies: studies('open') });
    expect(await store.rotations()).toHaveLength(2);
  });

  it('is refused without a key, past the limit, and for a record that does not continue the last '
    + 'one', async () => {
    renameSync(file('server.key'), file('elsewhere'));
    await expect(rotate()).rejects.toThrow('keelson serve');
    renameSync(file('elsewhere'), file('server.key'));
    const [one, two] = [
      signing.createSigner(signing.generateSeed()), signing.createSigner(signing.generateSeed()),
    ];
    await rotate();
    await expect(store.addRotation(signRotation(one, two, signing), 1)).rejects
      .toMatchObject({ code: 'invariant' });
    const record = (await store.rotations())[0]!;
    const many = Array.from({ length: protocolLimits.keyRotations }, () => record);
    await expect(rotate({ rotations: async () => many })).rejects
      .toThrow(`${protocolLimits.keyRotations} times`);
    expect(toHex(await inForce())).toBe(toHex(keysOfRotation(record).nextKey));
  });
});
