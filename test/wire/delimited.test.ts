import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameSplitter, joinFrames, splitFrames } from '../../src/wire/index.js';

const frames = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });

it('gives back the frames that were joined, however the body is cut into parts', () => {
  fc.assert(fc.property(frames, fc.array(fc.nat(2_500)), (given, cuts) => {
    const body = joinFrames(given);
    const splitter = new FrameSplitter(300);
    const places = [0, ...cuts.filter((cut) => cut <= body.length).sort((a, b) => a - b),
      body.length];
    const found = places.slice(1).flatMap((end, i) =>
      splitter.push(body.slice(places[i], end)).map((frame) => Uint8Array.from(frame)));
    expect(found).toEqual(given);
    expect(splitter.isUnfinished).toBe(false);
    expect(splitFrames(body, 300)).toEqual(given);
  }));
});

it('finds what is cut short, too long, or has a length without an end', () => {
  const body = joinFrames([new Uint8Array(200)]);
  expect(() => splitFrames(body.subarray(0, -1), 200)).toThrow('cut short');
  expect(() => splitFrames(body, 199)).toThrow('200 bytes, the most is 199');
  expect(() => splitFrames(new Uint8Array(5).fill(255), 200)).toThrow('no end');
});

it('holds no more memory than what came, whatever is announced', () => {
  const splitter = new FrameSplitter(2 ** 22);
  const announced = joinFrames([new Uint8Array(2 ** 22)]);
  splitter.push(announced.subarray(0, 10));
  expect(splitter.heldBytes).toBeLessThan(100);
  for (let i = 10; i < 1_000; i++) splitter.push(announced.subarray(i, i + 1));
  expect(splitter.heldBytes).toBeLessThan(2_100);
});
