import { expect, it } from 'vitest';
import type { Finding, RefusalReason } from '../../src/base/outcome.js';
import { oldReasons } from '../../src/base/old-names.js';
import { findingReasons, refusalReasons } from '../../src/base/outcome.js';
import { decodeReleaseBody, encodeReleaseBody } from '../../src/wire/index.js';
import { doubtfulBody } from '../support/wire-samples.js';

/** A stored release is signed, so it keeps the names of its time. */
it('reads findings and refusals of before by the names that they have now', () => {
  const known: readonly string[] = [...findingReasons, ...refusalReasons];
  const [answer] = doubtfulBody.answers;
  for (const [old, now] of Object.entries(oldReasons)) {
    expect(known).not.toContain(old);
    expect(known).toContain(now);
    const findings: Finding[] = [{ reason: old, columns: [], amounts: [] }];
    const outcome = refusalReasons.some((each) => each === now)
      ? { kind: 'refused' as const, reason: old as RefusalReason, text: 'why' }
      : { ...answer!.outcome, findings };
    const stored = encodeReleaseBody({ ...doubtfulBody, answers: [{ ...answer!, outcome }] });
    expect(Buffer.from(stored).includes(old)).toBe(true);
    const [read] = decodeReleaseBody(stored).answers;
    expect(read!.outcome).toMatchObject(outcome.kind === 'refused'
      ? { reason: now } : { findings: [{ reason: now }] });
  }
  // Not a name that every object has.
  const finding = { reason: 'constructor', columns: [], amounts: [] };
  const odd = { ...answer!.outcome, findings: [finding] };
  const stored = encodeReleaseBody({ ...doubtfulBody, answers: [{ ...answer!, outcome: odd }] });
  expect(decodeReleaseBody(stored).answers[0]!.outcome).toMatchObject(odd);
});
