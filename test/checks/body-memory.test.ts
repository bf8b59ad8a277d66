import { describe, expect, it } from 'vitest';
import { BodyMemory } from '../../server/checks/body-memory.js';

const filled = (length: number, value: number) => new Uint8Array(length).fill(value);

describe('memory of bodies', () => {
  it('holds a copy that ends at a multiple of 8 bytes', () => {
    const memory = new BodyMemory();
    for (const length of [0, 1, 7, 8, 4_161]) {
      const from = filled(length, 3);
      const { bytes } = memory.hold(filled(5, 9), from);
      from.fill(0);
      expect(Array.from(bytes)).toEqual([...filled(5, 9), ...filled(length, 3)]);
      expect((bytes.byteOffset + bytes.length) % 8).toBe(0);
      expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  });

  it('overwrites a body when it is released, and no other', () => {
    const memory = new BodyMemory();
    const bodies = [1, 2, 3].map((value) => memory.hold(filled(1_001, value)));
    bodies[1]!.release();
    expect(bodies.map(({ bytes }) => [bytes[0], bytes.at(-1)])).toEqual([[1, 1], [0, 0], [3, 3]]);
    expect(() => bodies[1]!.release()).toThrow('released once');
  });

  it('uses few blocks for many bodies that are released in nearly their order', () => {
    const memory = new BodyMemory();
    const blocks = new Set<ArrayBufferLike>();
    const held = Array.from({ length: 256 }, () => memory.hold(filled(65_700, 1)));
    for (let i = 0; i < 2_000; i++) {
      held.splice((i * 7) % 16, 1)[0]!.release();
      const next = memory.hold(filled(65_700, 1));
      blocks.add(next.bytes.buffer);
      held.push(next);
    }
    // 256 bodies are 16 MiB: four blocks and a bit.
    expect(blocks.size).toBeLessThanOrEqual(8);
  });

  it('has room for the longest frame', () => {
    const { bytes } = new BodyMemory().hold(filled(192, 1), filled(4 * 1024 * 1024, 7));
    expect(bytes.at(-1)).toBe(7);
  });
});
