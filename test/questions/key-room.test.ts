import { expect, it } from 'vitest';
import { emptyTableBytes, keyMemoryOf, keyRoomOf } from '../../src/questions/key-table.js';

const discovered = [{ groupsMax: 3, keyMemory: 10 }, { groupsMax: 2, keyMemory: 40 }];

it('gives the room of the keys of all questions', () => {
  const rooms = [1, 2, 3, 9, Infinity].map((rows) => keyRoomOf(discovered, rows));
  expect(rooms).toEqual([50, 100, 110, 110, 110]);
  expect(keyRoomOf([], 5)).toBe(0);
});

it('plans memory for the keys of all people, and none where every key is listed', () => {
  expect(keyMemoryOf(discovered, 2, 7)).toBe(700 + 2 * emptyTableBytes);
  expect(keyMemoryOf([], 64, 48_000)).toBe(0);
});
