import { expect, it } from 'vitest';
import { SingleUseNonces } from '../../server/base/single-use-nonces.js';
import { HandClock } from '../listener/hand-clock.js';

it('takes a nonce once, in any order, and only what it issued itself', () => {
  const nonces = new SingleUseNonces(new HandClock(), 1_000);
  const issued = Array.from({ length: 100 }, () => nonces.issue());
  expect(new Set(issued.map((nonce) => nonce.join())).size).toBe(100);
  const [first, ...others] = issued.reverse();
  expect(nonces.take(first!)).toBe(true);
  expect(others.every((nonce) => nonces.take(nonce))).toBe(true);
  expect(issued.some((nonce) => nonces.take(nonce))).toBe(false);
  const fresh = nonces.issue();
  for (let i = 0; i < fresh.length; i++) {
    const changed = Uint8Array.from(fresh);
    changed[i]! ^= 1;
    expect(nonces.take(changed), `byte ${i}`).toBe(false);
  }
  expect(nonces.take(fresh.subarray(1))).toBe(false);
  expect(new SingleUseNonces(new HandClock(), 1_000).take(fresh)).toBe(false);
  expect(nonces.take(fresh)).toBe(true);
});

it('takes no nonce that is too old', () => {
  const clock = new HandClock();
  const nonces = new SingleUseNonces(clock, 1_000);
  const [one, other] = [nonces.issue(), nonces.issue()];
  clock.advance(1_000);
  expect(nonces.take(one)).toBe(true);
  clock.advance(1);
  expect(nonces.take(other)).toBe(false);
});

it('takes a nonce however many others were issued, and once also in the next period', () => {
  const clock = new HandClock();
  const nonces = new SingleUseNonces(clock, 1_000);
  clock.advance(900);
  const [used, unused] = [nonces.issue(), nonces.issue()];
  expect(nonces.take(used)).toBe(true);
  for (let i = 0; i < 5_000; i++) nonces.issue();
  clock.advance(200);
  for (let i = 0; i < 5_000; i++) expect(nonces.take(nonces.issue())).toBe(true);
  expect(nonces.take(used)).toBe(false);
  expect(nonces.take(unused)).toBe(true);
  expect(nonces.take(unused)).toBe(false);
  clock.advance(5_000);
  expect(nonces.take(nonces.issue())).toBe(true);
});

it('shows neither how many nonces were issued nor the time', () => {
  // A byte of 512 random ones has fewer than 160 values once in more than 10^9 runs.
  const nonces = new SingleUseNonces(new HandClock(), 1_000);
  const issued = Array.from({ length: 512 }, () => nonces.issue());
  for (let place = 0; place < 32; place++) {
    expect(new Set(issued.map((nonce) => nonce[place])).size, `byte ${place}`)
      .toBeGreaterThan(160);
  }
});
