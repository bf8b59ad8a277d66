import type { Rejection } from '../../src/wire/messages.js';
import type { SubmitResult, VerifiedBatch } from '../studies/contract.js';
import type { BatchSetup } from './channel.js';
import type { ListenerContext } from './context.js';
import { rejection } from './refusal-texts.js';

/**
 * Counts the verdict on a batch.
 * @param result undefined when the hub failed: the sequence was not consumed.
 * @returns the code for the sender; null when the batch counts.
 */
export function countedVerdict(
  { clock, metrics }: ListenerContext, { studyName: study, facts }: BatchSetup,
  { sequence, fault }: Pick<VerifiedBatch, 'sequence' | 'fault'>, result: SubmitResult | undefined,
): Rejection | null {
  if (result !== undefined && result.verdict !== 'rejected') {
    (result.verdict === 'accepted' ? metrics.accepted : metrics.duplicates).add(1, { study });
    return null;
  }
  const told: SubmitResult = result ?? { verdict: 'rejected', code: 'internal' };
  const { code = 'unspecified', retryAtMs, isFull, lacksDisk } = told;
  metrics.refused.add(1, { study, code });
  return rejection(sequence, code, {
    ...facts, fault, isFull, lacksDisk,
    ...(retryAtMs !== undefined && { retryInMs: retryAtMs - clock.nowMs() }),
  });
}
