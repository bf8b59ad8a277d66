import fc from 'fast-check';
import { expect, it } from 'vitest';
import { roomTaken } from '../../server/store/rules/key-room.js';
import { keyRoomOf } from '../../src/questions/key-table.js';

const discovered = [{ keysMax: 3, keyMemory: 10 }, { keysMax: 2, keyMemory: 40 }];

it('takes the room of the keys of all questions', () => {
  const rooms = [1, 2, 3, 9, Infinity].map((rows) => keyRoomOf(discovered, rows));
  expect(rooms).toEqual([50, 100, 110, 110, 110]);
  expect(keyRoomOf([], 5)).toBe(0);
  expect(roomTaken({ rows: 5 }, 5)).toBe(0);
});

it('takes for many small batches what one large batch takes, and never gives back', () => {
  const question = fc.record({ keysMax: fc.integer({ min: 1, max: 9 }), keyMemory: fc.nat(999) });
  fc.assert(fc.property(
    fc.array(question, { maxLength: 4 }), fc.array(fc.nat(5), { maxLength: 9 }),
    (questions, batches) => {
      let [rows, taken] = [0, 0];
      for (const each of batches) {
        rows += each;
        const room = roomTaken({ rows: each, discovered: questions }, rows);
        expect(room).toBeGreaterThanOrEqual(0);
        taken += room;
      }
      expect(taken).toBe(roomTaken({ rows, discovered: questions }, rows));
    },
  ), { seed: 19, numRuns: 300 });
});
