// @module-tag slow
import { describe, expect, it } from 'vitest';
import { Tally } from '../support/fuzz/frames/tally.js';
import { fuzzUploads } from '../support/fuzz/uploads/run.js';

describe('uploads made to harm', () => {
  it('are refused by name or count as they should, in front of a real port', async () => {
    const tally = new Tally();
    for (let seed = 21; seed <= 23; seed++) await fuzzUploads(seed, 400, tally);
    for (const met of [
      'answered', 'ready', 'accepted', 'no answer', 'status 400 malformed', 'status 408 too-slow',
      'status 409 stale-nonce', 'status 413 too-large', 'status 415 wrong-content-type',
      'refusal bad-signature', 'refusal not-enrolled', 'refusal unknown-channel',
      'rejected mutated', 'rejected not-finite', 'rejected wrong-columns', 'once: accepted',
      'once: refusal bad-signature', 'once: refusal not-enrolled', 'once: rejected mutated',
      'once: rejected wrong-columns',
    ]) expect(tally.outcomes.get(met) ?? 0, met).toBeGreaterThan(0);
  }, 180_000);
});
