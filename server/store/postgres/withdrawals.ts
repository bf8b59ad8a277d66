import { sql as raw } from 'kysely';
import type { WithdrawalRequest, WithdrawalResult } from '../contract.js';
import type { Steps } from '../rules/steps.js';
import { withdraw } from '../rules/withdrawals.js';
import { refundOne } from './refunds.js';
import { statement } from './session.js';

/**
 * A withdrawal beside admission: it holds the gate open, as a list does (migrations/functions.ts),
 * and locks only what the contributor has. So lists of other contributors are not judged again.
 *
 * Claim: it has the effect of a withdrawal that has the database for itself. It either commits
 * before a closing begins to change anything, or finds the epoch closed: the gate is held to its
 * commit, and the rules read after it is taken. What it reads and writes belongs to the study, and
 * that changes behind a closed gate only, or to one contributor. Every list of that contributor in
 * the study writes the window that it read, under its version. The version grows here first, and
 * the row stays locked. So a list either committed before, and its rows are withdrawn too, or it is
 * judged again after the withdrawal. A list of another study may have read what the contributor had
 * spent before the refund: it then refuses at most what it would have refused a moment ago, and
 * `contributor_spend.version` or the check of each debit keeps sums right, as between two lists.
 */
export function* withdrawBeside(input: WithdrawalRequest): Steps<WithdrawalResult> {
  const { studyId, contributor } = input;
  yield* statement(raw`SELECT pg_advisory_xact_lock_shared(gate_class(), study_key::int)
    FROM studies WHERE study_id = ${studyId}`);
  yield* statement(raw`UPDATE replay SET version = version + 1
    WHERE study_key = (SELECT study_key FROM studies WHERE study_id = ${studyId})
      AND contributor_id = (SELECT contributor_id FROM contributors
        WHERE public_key = ${Buffer.from(contributor, 'hex')})`);
  return yield* withdraw(input, refundOne);
}
