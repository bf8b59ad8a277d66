import { retryableWireCodes, type WireCode } from '../../src/base/error-codes.js';
import { toHex } from '../../src/base/bytes.js';
import type { Refusal, Welcome } from '../../src/wire/messages.js';
import type { StudyView } from '../studies/contract.js';
import type { ListenerContext } from './context.js';
import { refusalText } from './refusal-texts.js';
import type { Subject } from './session-output.js';

const noBytes = new Uint8Array(0);

/**
 * The facts that a client must know before it identifies itself.
 * @param serverNonce signed by its Hello.
 * @param studies default: all.
 */
export function welcomeOf(
  { hub, limits }: ListenerContext, serverNonce: Uint8Array,
  studies: readonly StudyView[] = hub.studies(),
): Welcome {
  return {
    kind: 'welcome',
    serverKey: hub.serverKey,
    serverNonce,
    limits,
    studies: studies.map((view) => ({
      facts: view.facts, signature: view.factsSignature, state: view.state, epoch: view.epoch,
    })),
    rotations: hub.rotations,
  };
}

/** Counts a request as refused. @returns the frame that refuses it. */
export function countedRefusal(
  { hub, limits, metrics }: ListenerContext, code: WireCode, subject: Subject,
): Refusal {
  const study = subject.studyId === undefined
    ? '' : (hub.study(toHex(subject.studyId))?.name ?? '');
  metrics.refused.add(1, { study, code });
  return {
    kind: 'refusal',
    code,
    retryable: retryableWireCodes.has(code),
    text: refusalText(code, subject.facts ?? { limits }),
    channel: subject.channel ?? 0,
    studyId: subject.studyId ?? noBytes,
    publicKey: subject.publicKey ?? noBytes,
  };
}
