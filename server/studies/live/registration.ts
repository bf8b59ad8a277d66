import { signing } from '#signing';
import { fromHex, fromUtf8 } from '../../../src/base/bytes.js';
import { KeelsonError } from '../../../src/base/errors.js';
import { protocolLimits } from '../../../src/base/limits.js';
import { signStatement } from '../../../src/signing/index.js';
import type { StudyRecord } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import { defineStudy, type StudyDefinition } from '../definition.js';
import type { StudyIdentity } from '../latest-view.js';

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
 * Registers a study in the store.
 * @throws KeelsonError('invalid-study') when it would change its budget in a way that is not
 *   allowed.
 */
export async function register(
  context: HubContext, definition: StudyDefinition, studyId: string, facts: Uint8Array,
): Promise<Registered> {
  const { store, clock, logger } = context;
  const { study: name } = definition.document;
  const settled = await atStandingOrder(context, definition);
  const record = await store.registerStudy({
    studyId, name, document: fromUtf8(facts), budget: settled.budget, nowMs: clock.nowMs(),
  });
  if (record.state !== 'open') {
    logger.warn({ study: name, state: record.state }, 'a study has stopped for good; its '
      + 'releases can still be read');
  }
  return { definition: settled, record };
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
