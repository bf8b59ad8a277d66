import { signing } from '#signing';
import { equalBytes, fromHex, fromUtf8 } from '../../../src/base/bytes.js';
import { keepsTwoSums } from '../../../src/base/budget-rules.js';
import { KeelsonError } from '../../../src/base/errors.js';
import { protocolLimits } from '../../../src/base/limits.js';
import { signStatement } from '../../../src/signing/index.js';
import { withLeastNoise } from '../../../src/plan-study.js';
import { encodeStudyDocument } from '../../../src/wire/index.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { StudyRecord } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import { defineStudy, type StudyDefinition } from '../definition.js';
import type { StudyIdentity } from '../latest-view.js';
import { readStored, type StoredFacts } from '../stored-facts.js';

/** A study that is in the store. */
export interface Registered {
  readonly definition: StudyDefinition;
  readonly record: StudyRecord;
}

/** @throws KeelsonError('invalid-study') when a server runs as many studies as it can. */
export function checkRoom(studies: number): void {
  if (studies < protocolLimits.studies) return;
  throw new KeelsonError(
    'invalid-study',
    `a server runs at most ${protocolLimits.studies} studies: start another one for the rest`,
  );
}

/** Moves earlier versions of a study behind the new one, and reports that they are replaced. */
export function moveBehind<T extends { readonly identity: StudyIdentity }>(
  live: Map<string, T>, versions: readonly T[], { emit }: Pick<HubContext, 'emit'>,
): void {
  for (const version of versions) {
    const { studyId } = version.identity;
    if (!live.delete(studyId)) continue;
    live.set(studyId, version);
    emit({ kind: 'study-replaced', studyId });
  }
}

/**
 * Registers a study in the store, as `asStored` returned it.
 * @throws KeelsonError('invalid-study') when it would change its budget in a way that is not
 *   allowed.
 */
export async function register(
  context: HubContext, definition: StudyDefinition, studyId: string, facts: Uint8Array,
): Promise<Registered> {
  const { store, clock, logger } = context;
  const { study: name } = definition.document;
  const record = await store.registerStudy({
    studyId, name, document: fromUtf8(facts), budget: definition.budget, nowMs: clock.nowMs(),
  });
  if (record.state !== 'open') {
    logger.warn({ study: name, state: record.state }, 'a study has stopped for good; its '
      + 'releases can still be read');
  }
  return { definition, record };
}

/**
 * The study with the rule and the noise under which it began, where the store has it. Only what
 * the study leaves out is taken from there: a later version may choose otherwise, and a study that
 * runs must not become another one for that. If its other facts are new, its budget keeps its rule.
 */
export async function asStored(
  context: HubContext, definition: StudyDefinition,
): Promise<StudyDefinition> {
  const { store, findEstimator } = context;
  const { document, enrolled, isRuleOpen = false } = definition;
  const as = (facts: StudyDocument): StudyDefinition =>
    ({ ...defineStudy(facts, enrolled, findEstimator), isRuleOpen });
  const before = await newestFacts(context, document.study);
  const isSame = (facts: StudyDocument): boolean =>
    before !== null && equalBytes(before.facts, encodeStudyDocument(facts));
  if (before !== null && !isSame(document)) {
    const kept = withChoices(document, before.document, isRuleOpen);
    if (isSame(kept)) return as(kept);
  }
  const standing = await store.balance(definition.budget.key);
  const rule = standing?.rule.rule ?? document.budget.rule;
  if (isRuleOpen && keepsTwoSums(rule) && rule !== document.budget.rule) {
    const under = { ...document, budget: { ...document.budget, rule } };
    return as(withLeastNoise(under, findEstimator, false));
  }
  return await atStandingOrder(context, definition);
}

async function newestFacts({ store }: HubContext, study: string): Promise<StoredFacts | null> {
  const newest = (await store.studies()).findLast(({ name }) => name === study);
  if (newest === undefined) return null;
  try {
    return readStored(newest);
  } catch (error) {
    // Facts that this version cannot read are not continued.
    if (error instanceof KeelsonError) return null;
    throw error;
  }
}

/** The facts with what an earlier version chose. */
function withChoices(
  { noise, ...facts }: StudyDocument, before: StudyDocument, isRuleOpen: boolean,
): StudyDocument {
  const rule = isRuleOpen ? before.budget.rule : facts.budget.rule;
  const kept = noise === undefined ? undefined : before.noise;
  return {
    ...facts, budget: { ...facts.budget, rule }, ...(kept !== undefined && { noise: kept }),
  };
}

/**
 * A Renyi budget keeps the order that it was created with, even if the study's facts would now
 * choose another.
 */
export async function atStandingOrder(
  { store, findEstimator }: HubContext, definition: StudyDefinition,
): Promise<StudyDefinition> {
  const { document, enrolled, budget } = definition;
  const standing = await store.balance(budget.key);
  if (budget.rule.rule !== 'renyi' || standing?.rule.rule !== 'renyi') return definition;
  if (standing.rule.order === budget.rule.order) return definition;
  return defineStudy(document, enrolled, findEstimator, standing.rule.order);
}

/** The facts of a study with the server's signature. */
export function identityOf(
  { signer }: HubContext, studyId: string, facts: Uint8Array,
): StudyIdentity {
  const factsSignature =
    signStatement('study', signer, fromHex(studyId), signing.sha512(facts));
  return { studyId, facts, factsSignature };
}
