import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it, vi } from 'vitest';
import { KeyShares, shareTakenMs, type OwnShare } from '../../server/listener/key-shares.js';
import { signing } from '../../src/signing/node.js';
import { HandClock } from './hand-clock.js';

/** A WeakRef holds its target until the end of the turn. */
const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const basePoint = Uint8Array.of(9, ...new Uint8Array(31));
const minute = 60_000;

function scene(): {
  readonly clock: HandClock; readonly shares: KeyShares;
  /** The array of each secret, and a copy from before it was used. */
  readonly drawn: { readonly secret: Uint8Array; readonly was: Uint8Array }[];
} {
  const clock = new HandClock();
  const drawn: { secret: Uint8Array; was: Uint8Array }[] = [];
  const shares = new KeyShares(clock, () => new Uint8Array(64), () => {
    const secret = signing.randomBytes(32);
    drawn.push({ secret, was: secret.slice() });
    return secret;
  });
  return { clock, shares, drawn };
}

it('is of the secret, agrees with it, and refuses a share that gives zeros', () => {
  const { shares, drawn } = scene();
  const { was } = drawn[0]!;
  expect(shares.newest.stated.share).toEqual(signing.x25519(was, basePoint));
  const other = signing.randomBytes(32);
  const agreed = shares.newest.agree(signing.x25519(other, basePoint));
  expect(Uint8Array.from(agreed as Uint8Array))
    .toEqual(signing.x25519(other, shares.newest.stated.share));
  expect(shares.newest.agree(new Uint8Array(32))).toBe('zero');
});

it('keeps no secret in its array, on any of 24 hours', () => {
  const { clock, drawn } = scene();
  for (let at = 0; at < 24 * 60; at++) {
    clock.advance(minute);
    for (const { secret } of drawn) expect(secret).toEqual(new Uint8Array(32));
  }
  expect(drawn).toHaveLength(1 + 24 * 12);
  expect(new Set(drawn.map(({ was }) => was.join())).size).toBe(drawn.length);
});

it('shows a share for 5 minutes, and takes it for 10', () => {
  const { clock, shares } = scene();
  const seen: { readonly share: OwnShare; readonly fromMs: number }[] = [];
  for (let at = 0; at < 60; at++) {
    if (seen.at(-1)?.share !== shares.newest) {
      seen.push({ share: shares.newest, fromMs: clock.nowMs() });
    }
    for (const { share, fromMs } of seen) {
      const isOver = clock.nowMs() >= fromMs + shareTakenMs;
      expect(share.isOver).toBe(isOver);
      expect(share.agree(basePoint) === 'over').toBe(isOver);
      expect(share.stated.untilMs).toBe(BigInt(fromMs + shareTakenMs));
    }
    clock.advance(minute);
  }
  expect(seen).toHaveLength(12);
});

it('is over in time on a machine that slept, and when the server stops', () => {
  const { clock, shares } = scene();
  const { newest } = shares;
  Object.assign(clock, { monotonicMs: () => shareTakenMs });
  expect(newest.agree(basePoint)).toBe('over');
  const another = scene().shares;
  another.stop();
  expect(another.newest.agree(basePoint)).toBe('over');
});

it('leaves nothing that leads to the key: it is collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const spy = vi.spyOn(crypto, 'createPrivateKey');
  syncBuiltinESMExports();
  const { clock, shares } = scene();
  const held = shares.newest;
  const key = new WeakRef(spy.mock.results[0]!.value as object);
  spy.mockClear();
  await turn();
  collect();
  expect(key.deref()).toBeDefined();
  await turn();
  for (let at = 0; at < 10; at++) clock.advance(minute);
  await turn();
  collect();
  expect(key.deref()).toBeUndefined();
  expect(held.isOver).toBe(true);
});
