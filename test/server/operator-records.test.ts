import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  notesMost, openOperatorRecords, recordsInMemory,
} from '../../server/base/operator-records.js';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'keelson-records-')); });
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('keeps pauses and notes across restarts, in a file that only its owner reads', () => {
  const { paused, notes } = openOperatorRecords(folder);
  expect(notes.of('a')).toEqual([]);
  paused.set('a', true);
  paused.set('b', true);
  paused.set('b', false);
  notes.add({ studyId: 'a', atMs: 20, text: 'later' });
  notes.add({ studyId: 'a', atMs: 10, text: 'earlier' });
  notes.add({ studyId: 'b', atMs: 10, text: 'of another study' });
  expect(notes.remove('b', 2)).toBe(false);
  expect(notes.remove('a', 1)).toBe(true);
  const again = openOperatorRecords(folder);
  expect([again.paused.has('a'), again.paused.has('b')]).toEqual([true, false]);
  expect(again.notes.of('a')).toEqual([{ id: 2, studyId: 'a', atMs: 10, text: 'earlier' }]);
  // The number of a note that is gone is not used again.
  expect(again.notes.add({ studyId: 'a', atMs: 1, text: 'new' })?.id).toBe(4);
  expect(statSync(join(folder, 'operator.json')).mode & 0o077).toBe(0);
});

it('keeps in which epoch a study was held, until it is resumed', () => {
  const { held, paused } = openOperatorRecords(folder);
  expect(held.epochOf('a')).toBeNull();
  held.set('a', 2n ** 62n);
  held.set('b', 7n);
  paused.set('b', true);
  held.set('b', null);
  const again = openOperatorRecords(folder);
  expect([again.held.epochOf('a'), again.held.epochOf('b')]).toEqual([2n ** 62n, null]);
  expect(again.paused.has('b')).toBe(true);
});

it('refuses a damaged file, and changes nothing when it cannot be written', () => {
  const file = join(folder, 'operator.json');
  for (const text of ['', '{', '[]', '{"version":2}', '{"version":1,"paused":[1],"notes":[]}',
    '{"version":1,"paused":[],"held":{"a":7},"nextNote":1,"notes":[]}']) {
    writeFileSync(file, text);
    expect(() => openOperatorRecords(folder)).toThrow('says which studies are paused');
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  rmSync(file);
  const { paused } = openOperatorRecords(folder);
  rmSync(folder, { recursive: true });
  expect(() => paused.set('a', true)).toThrow();
  expect(paused.has('a')).toBe(false);
});

it('bounds the number of notes', () => {
  const { notes } = recordsInMemory();
  for (let i = 0; i < notesMost; i++) notes.add({ studyId: 'a', atMs: i, text: 'x' });
  expect(notes.add({ studyId: 'a', atMs: 0, text: 'x' })).toBeUndefined();
});
