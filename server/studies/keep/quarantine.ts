import type { StudyView } from '../contract.js';
import type { Store } from '../../store/contract.js';
import type { QuarantineOutcome } from '../evidence-contract.js';
import { gatherEvidence } from './evidence.js';
import { rounded } from './own-rows.js';

/**
 * Time for the pass over the journal, normally enough. The decision ignores changes by the schedule
 * within it.
 */
const passMs = 1_000;

/**
 * Leaves a key out of the epochs that open from now on, if the mean of its own rows of some epoch
 * is farther from a published answer than the study's facts allow. The store has the entry before
 * the caller gets the answer, so the entry survives a crash.
 *
 * Claim: releases keep the guarantee and the cost that the ledger shows, against all readers.
 * Neighbours: everything that one contributor sends, in all epochs, replaced by anything, including
 * nothing.
 *
 * Proof. Write M(k, t) for "key k is excluded from epoch t". Three things decide it:
 * - the rows of k in epochs before t. They are read out of the journal by k's key, to the last
 *   entry. There is no bound on entries, because a bound would let the rows of others decide;
 * - the estimate of a release published before t;
 * - the bound, the columns' spreads, and which rows and columns the compared question is about,
 *   which are public facts. A row that does not count is k's own, too.
 * Which epochs are measured, and from which epoch on the key is left out, is fixed by the schedule
 * before rows are read, because the length of the pass depends on what others sent.
 * Fix the releases before t. Then M(k, t) is a function of k's own rows alone. Let the neighbours
 * differ in contributor i. A key k other than i has the same rows on both sides, so M(k, t) is the
 * same, and k counts in epoch t on one side exactly when it does on the other. So the two inputs of
 * epoch t still differ in the contribution of i and nothing else. Now i may be present on one side
 * and absent on the other. The neighbouring relation allows that, and each release is paid for it
 * (docs/concepts/threat-model.md). So, given earlier releases, each release has its plan's cost.
 * Costs of releases chosen after seeing earlier ones add up under zCDP (Bun and Steinke 2016, lemma
 * 2.3), and under the other rules, in the same way as without exclusion.
 *
 * The proof does not cover two cases, and the study's facts refuse them (mayExclude). With public
 * participation the absence of i is visible, so it would publish a function of its rows without
 * noise. Under contributor scope the promise compares contributors who are present in the same
 * epochs.
 *
 * The claim covers the rule, not the choice of keys to try. An operator who tries some keys and not
 * others because of what other people sent lets their rows decide. The page says so, and shows
 * nothing about others beside the button. Cost: a pass over the journal of at most eight epochs.
 */
export async function quarantineIfFar(
  store: Store, view: StudyView, contributor: Uint8Array, nowMs: number,
): Promise<QuarantineOutcome> {
  const { quarantine: rule } = view.document;
  if (rule === undefined || store.quarantine === undefined) return { kind: 'off' };
  const { studyId } = view;
  const untilMs = nowMs + passMs;
  const newest = (await store.study(studyId))!.lastEpoch;
  // Skips the next epoch if it may open before the pass over the journal ends.
  const fromEpoch = newest + (view.closesAtMs > untilMs ? 1n : 2n);
  const { evidence, distance } = await gatherEvidence(store, view, contributor, untilMs);
  const { answer, contributor: key } = evidence;
  if (answer === null || distance === null) return { kind: 'unknown' };
  const { beyond } = rule;
  const shown = rounded(distance);
  if (!(distance > beyond)) return { kind: 'near', distance: shown, beyond };
  const [entry] = await store.quarantine([{
    studyId, contributor: key, distance: shown, beyond, releaseIndex: answer.index, atMs: nowMs,
    fromEpoch,
  }]);
  return { kind: 'excluded', fromEpoch: entry!.fromEpoch, distance: shown, beyond };
}
