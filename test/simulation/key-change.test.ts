import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { equalBytes, toHex } from '../../src/base/bytes.js';
import { keyChain, keysOfRotation } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import type { Engine } from '../../server/store/sqlite/engine.js';
import { SimulatedDisk } from '../support/simulation/disk.js';
import {
  changeKey, Fuse, keyInForce, mustBeErased, stepsOfChange, stepsOfStart, writeFirstKey,
} from '../support/simulation/key-folder.js';
import { VirtualClock } from '../support/virtual-clock.js';

let disk: SimulatedDisk;
let engine: Engine;
beforeEach(() => {
  disk = new SimulatedDisk();
  writeFirstKey(disk, new Uint8Array(32).fill(77));
  engine = disk.boot(new VirtualClock());
});
afterEach(() => disk.remove());

const start = (): Promise<Uint8Array> => keyInForce(disk, engine, new Fuse(Infinity));

describe('a change of the server\'s key, cut off', () => {
  it('at any of its steps, leaves one key in force, the one that its records lead to, and erases '
    + 'those before', async () => {
    // Of a server that changed its key before, where a file beside the key may be the one in force.
    await changeKey(disk, engine, new Fuse(Infinity), 1);
    const outcomes: string[] = [];
    for (let steps = 0; steps <= stepsOfChange; steps++) {
      const before = await start();
      const count = engine.rotations().length;
      const record = await changeKey(disk, engine, new Fuse(steps), 1);
      // Cut off again, at each step of the start that goes on with it.
      for (let again = 0; again < stepsOfStart; again += 1) {
        const fuse = new Fuse(again);
        await keyInForce(disk, engine, fuse)
          .catch((error: unknown) => { if (!fuse.isOut) throw error; });
      }
      const after = await start();
      const isChanged = engine.rotations().length > count;
      expect(equalBytes(before, after), `after ${steps} steps`).toBe(!isChanged);
      if (isChanged) {
        mustBeErased(disk, [toHex(before)]);
        const { publicKey } = signing.createSigner(after);
        expect(keysOfRotation(engine.rotations().at(-1)!).nextKey).toEqual(publicKey);
        expect(keyChain(engine.rotations(), publicKey, signing)).toHaveLength(count + 2);
      }
      outcomes.push(record !== null ? 'whole' : isChanged ? 'changed' : 'as before');
    }
    expect([...new Set(outcomes)]).toEqual(['as before', 'changed', 'whole']);
    // So it was cut off at every step, and no step was missed.
    expect(outcomes.indexOf('whole')).toBe(stepsOfChange);
  });
});
