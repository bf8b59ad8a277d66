import type { StudyView } from './contract.js';
import type { Store } from '../store/contract.js';
import type { QuarantineOutcome } from './evidence-contract.js';
import { gatherEvidence } from './evidence.js';
import { rounded } from './own-rows.js';

/** A pass over the journal takes less as a rule. What changes by the schedule before it ends is left out of the decision. */
const passMs = 1_000;

/**
 * Leaves a key out of the epochs that open from now on, if the mean of its own rows of some epoch is farther from a
 * published answer than the study's facts allow. Entered in the store before the answer, so that it survives a crash.
 *
 * Claim: releases keep the guarantee and the cost that the ledger shows, against whoever reads them.
 * Neighbours: everything that one contributor sends, in all epochs, replaced by anything, including nothing.
 *
 * Why. Write M(k, t) for "key k is excluded from epoch t". What decides it: the rows of k in epochs before t, which are
 * read out of the journal by k's key and to the last entry (a bound on entries would let the rows of others decide, so
 * there is none here); the estimate of a release published before t; and the bound and the columns' scales, which are
 * public facts. Which epochs are measured, and from which one on the key is left out, is fixed before rows are read, by the
 * schedule: the length of the pass depends on what others sent. Fix the releases before t. Then M(k, t) is a function of k's own rows alone. Let the neighbours differ in
 * contributor i. For k other than i the rows are the same on both sides, so M(k, t) is, and k counts in epoch t on one side
 * exactly when it does on the other. So the two inputs of epoch t still differ in the contribution of i and nothing else:
 * i may now be present on one side and absent on the other, which the neighbouring relation allows, and for which each
 * release is paid (docs/concepts/threat-model.md). Given earlier releases each release therefore has its plan's cost, and costs of
 * releases chosen after seeing earlier ones add up under zCDP (Bun and Steinke 2016, lemma 2.3), and under the other
 * rules, in the same way as without exclusion.
 *
 * Two cases are outside, and the study's facts refuse them (mayExclude): with public participation the missing of i is
 * visible, so it would publish a function of its rows without noise; and under contributor scope the promise compares
 * contributors who are present in the same epochs.
 *
 * The claim covers the rule, not the hand on the button: an operator who tries some keys and not others because of
 * what other people sent decides by that. The page says so, and shows nothing of others beside the button.
 * Cost: a pass over what the journal holds of at most eight epochs.
 */
export async function quarantineIfFar(
  store: Store, view: StudyView, contributor: Uint8Array, nowMs: number,
): Promise<QuarantineOutcome> {
  const { quarantine: rule } = view.document;
  if (rule === undefined || store.quarantine === undefined) return { kind: 'off' };
  const { studyId } = view;
  const untilMs = nowMs + passMs;
  const newest = (await store.study(studyId))!.lastEpoch;
  // Not the next epoch where that may open before the pass over the journal ends.
  const fromEpoch = newest + (view.closesAtMs > untilMs ? 1n : 2n);
  const { evidence, distance } = await gatherEvidence(store, view, contributor, untilMs);
  const { answer, contributor: key } = evidence;
  if (answer === null || distance === null) return { kind: 'unknown' };
  const { beyond } = rule;
  const shown = rounded(distance);
  if (!(distance > beyond)) return { kind: 'near', distance: shown, beyond };
  const [entry] = await store.quarantine([{
    studyId, contributor: key, distance: shown, beyond, releaseIndex: answer.index, atMs: nowMs, fromEpoch,
  }]);
  return { kind: 'excluded', fromEpoch: entry!.fromEpoch, distance: shown, beyond };
}
