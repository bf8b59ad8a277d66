import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newKeysSchema } from '../../server/store/sqlite/migrations/0005-new-keys.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import type { Store } from '../../server/store/contract.js';
import { HandClock } from '../listener/hand-clock.js';
import {
  batch, budget, epochOf, idOf, registration, verdicts, withoutPure,
} from '../support/store-fixtures.js';
import { memoryFolder } from '../support/memory-folder.js';

const perMs = 60_000;
let directory: string;
let clock: HandClock;
let store: Store;

const open = async (): Promise<void> => {
  store = await openInlineSqliteStore({ directory, clock });
};

/** A study that takes two new keys a minute, its first epoch open. */
async function register(name: string, version = '1', facts: object = {}): Promise<string> {
  const studyId = idOf(`${name} ${version}`);
  const document = JSON.stringify({
    study: name, version, participation: 'public',
      admission: { kind: 'rate', contributorKeys: 2, perMs },
    ...facts,
  });
  await store.registerStudy(
    registration({ studyId, name, document, budget: budget({ key: `study:${name}` }) }),
  );
  await store.openEpoch(epochOf(1, { studyId, closesAtMs: 0, rowsMax: 100 }));
  return studyId;
}

beforeEach(async () => {
  directory = mkdtempSync(join(memoryFolder, 'keelson-new-keys-'));
  clock = new HandClock();
  clock.advance(10 * perMs + 45_000);
  await open();
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

it('takes so many new keys in a period, says from when the next one is taken, and known keys '
  + 'always', async () => {
  const studyId = await register('s');
  const of = (who: string, sequence: number) => batch(who, sequence, 1, { studyId });
  // In one list, as a group commit has them: the third is one too many.
  expect(await verdicts(store, [of('a', 1), of('b', 1), of('c', 1), of('a', 2)]))
    .toEqual(['accepted@1', 'accepted@1', 'rejected:too-many-new-keys', 'accepted@1']);
  const [refused] = await store.admit([of('c', 1)]);
  expect(refused).toMatchObject({ code: 'too-many-new-keys', retryAtMs: 11 * perMs });
  expect((await store.contributorState(studyId, idOf('c'))).nextSequence).toBe(1n);
  clock.advance(14_999);
  expect(await verdicts(store, [of('c', 1), of('b', 2)]))
    .toEqual(['rejected:too-many-new-keys', 'accepted@1']);
  clock.advance(1);
  expect(await verdicts(store, [of('c', 1), of('d', 1), of('e', 1)]))
    .toEqual(['accepted@1', 'accepted@1', 'rejected:too-many-new-keys']);
});

it('counts over a restart, and begins no period anew for a clock that is set back', async () => {
  const studyId = await register('s');
  const of = (who: string) => batch(who, 1, 1, { studyId });
  expect(await verdicts(store, [of('a'), of('b')])).toEqual(['accepted@1', 'accepted@1']);
  await store.close();
  clock.advance(-5 * perMs);
  await open();
  const [refused] = await store.admit([of('c')]);
  expect(refused).toMatchObject({ code: 'too-many-new-keys', retryAtMs: 11 * perMs });
});

it('keeps its count when the folder of an older program is upgraded', async () => {
  const studyId = await register('s');
  await store.close();
  const database = connect(join(directory, 'keelson.db'));
  database.exec(`${withoutPure} DROP TABLE running_series; DROP TABLE running_participations;
    DROP TABLE epoch_people; DROP TABLE new_keys; ${newKeysSchema}
    INSERT INTO new_keys VALUES ('s', ${10 * perMs}, 2); PRAGMA user_version = 7`);
  database.close();
  await open();
  const [refused] = await store.admit([batch('c', 1, 1, { studyId })]);
  expect(refused).toMatchObject({ code: 'too-many-new-keys', retryAtMs: 11 * perMs });
});

it('counts a key whose first batch is refused for its values, so that values decide on nobody '
  + 'else', async () => {
  const studyId = await register('s');
  const of = (who: string, rejectAs?: 'not-finite') =>
    batch(who, 1, 1, { studyId, ...(rejectAs !== undefined && { rejectAs }) });
  expect(await verdicts(store, [of('a', 'not-finite'), of('b'), of('c')]))
    .toEqual(['rejected:not-finite', 'accepted@1', 'rejected:too-many-new-keys']);
});

it('does not count what is refused for now', async () => {
  const studyId = await register('s');
  const early = ['a', 'b', 'c'].map((who) => batch(who, 1, 2, { studyId }));
  expect(await verdicts(store, early)).toEqual(Array(3).fill('rejected:epoch-not-open'));
  expect(await verdicts(store, ['d', 'e'].map((who) => batch(who, 1, 1, { studyId }))))
    .toEqual(['accepted@1', 'accepted@1']);
});

it('shares count and known keys between the public versions of a study, and with nothing '
  + 'else', async () => {
  const first = await register('s', '1');
  const secret =
    await register('s', 'secret', { participation: 'secret', admission: { kind: 'open' } });
  const other = await register('t', '1', { admission: { kind: 'open' } });
  const of = (who: string, studyId: string) => batch(who, 1, 1, { studyId });
  expect(await verdicts(store, [
    of('a', first), of('hidden', secret), of('there', other), of('b', first),
  ]))
    .toEqual(Array(4).fill('accepted@1'));
  const second = await register('s', '2');
  // Were the one who was in the secret version let past, its presence there would show.
  expect(await verdicts(store, [
    of('a', second), of('hidden', second), of('there', second), of('c', second),
  ]))
    .toEqual(['accepted@1', ...Array<string>(3).fill('rejected:too-many-new-keys')]);
});

describe('versions with periods of different lengths', () => {
  const hour = 60 * perMs;
  const rate = (keys: number, per: number): object =>
    ({ admission: { kind: 'rate', contributorKeys: keys, perMs: per } });

  it('begin no period of each other anew', async () => {
    const minutes = await register('s', '1');
    const hours = await register('s', '2', rate(3, hour));
    const of = (who: string, studyId: string) => batch(who, 1, 1, { studyId });
    expect(await verdicts(store, ['a', 'b', 'c'].map((who) => of(who, hours))))
      .toEqual(Array(3).fill('accepted@1'));
    clock.advance(perMs);
    // The older one still takes its own rate; the newer one has had its keys for this hour.
    expect(
      await verdicts(store, [of('d', minutes), of('e', hours), of('f', minutes), of('g', minutes)]),
    ).toEqual([
      'accepted@1', 'rejected:too-many-new-keys', 'accepted@1', 'rejected:too-many-new-keys',
    ]);
    const [refused] = await store.admit([of('e', hours)]);
    expect(refused).toMatchObject({ retryAtMs: hour });
  });

  it('count the keys that another one took in the same period', async () => {
    const hours = await register('s', '1', rate(3, hour));
    const of = (who: string, studyId: string) => batch(who, 1, 1, { studyId });
    expect(await verdicts(store, ['a', 'b', 'c'].map((who) => of(who, hours))))
      .toEqual(Array(3).fill('accepted@1'));
    const longer = await register('s', '2', rate(3, 2 * hour));
    const shorter = await register('s', '3', rate(3, perMs));
    expect(await verdicts(store, [of('d', longer), of('e', shorter), of('a', longer)]))
      .toEqual(['rejected:too-many-new-keys', 'accepted@1', 'accepted@1']);
  });
});

it('bounds nothing where the study has no rate', async () => {
  const studyId = await register('s', '1', { admission: { kind: 'open' } });
  const all = Array.from({ length: 20 }, (_, i) => batch(`k${i}`, 1, 1, { studyId }));
  expect(new Set(await verdicts(store, all))).toEqual(new Set(['accepted@1']));
});
