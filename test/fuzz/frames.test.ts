// @module-tag slow
import { describe, expect, it } from 'vitest';
import { fuzzWorld } from '../support/fuzz/frames/run.js';
import { Tally } from '../support/fuzz/frames/tally.js';

describe('frames made to harm', () => {
  it('are refused by name or count as they should, in front of a whole server', async () => {
    const tally = new Tally();
    for (let seed = 6; seed <= 10; seed++) await fuzzWorld(seed, 1_600, tally);
    expect(tally.passedSignature / tally.frames).toBeGreaterThan(0.2);
    for (const met of [
      'ready', 'opened', 'ack', 'refusal malformed', 'refusal bad-signature', 'refusal invalid-key',
      'refusal key-not-allowed', 'refusal not-enrolled', 'refusal enrolment-expired',
      'rejected too-many-new-keys', 'refusal unknown-channel', 'refusal unknown-study',
      'rejected malformed', 'rejected mutated', 'rejected not-finite', 'rejected bad-text',
      'rejected sequence-too-far', 'rejected wrong-columns', 'rejected too-many-rows',
      'rejected epoch-not-open', 'rejected contribution-full', 'rejected study-ended',
      'refusal too-late', 'refusal epoch-not-open', 'client: followed', 'client: bad-signature',
      'client: server-key-mismatch',
    ]) expect(tally.outcomes.get(met) ?? 0, met).toBeGreaterThan(0);
    for (const made of [
      'encrypted: skipped', 'encrypted: repeated', 'encrypted: bits', 'encrypted: noise',
      'encrypted: no digest', 'encrypted: no body', 'open: as it should be', 'open: repeated',
      'open: bad share', 'open: bad key', 'open: another study', 'open: unknown study',
      'open: another share', 'open: bits',
    ]) expect(tally.recipes.get(made) ?? 0, made).toBeGreaterThan(0);
    // Another key without records, and all studies signed by it: in each world.
    expect(tally.outcomes.get('client: server-key-mismatch'))
      .toBeGreaterThanOrEqual(2 * tally.worlds);
  });
});
