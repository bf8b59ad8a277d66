import type { AdmissionResult } from '../../store/contract.js';
import type { SubmitResult } from '../contract.js';
import { ownSpendOf, type StudyDefinition } from '../definition.js';

/** The answer for the sender of a batch. */
export function answerOf(definition: StudyDefinition, result: AdmissionResult): SubmitResult {
  return {
    verdict: result.verdict,
    ...(result.code !== undefined && { code: result.code }),
    ...(result.retryAtMs !== undefined && { retryAtMs: result.retryAtMs }),
    ...(result.isFull === true && { isFull: true as const }),
    ...(result.lacksDisk === true && { lacksDisk: true as const }),
    ...(result.spend !== undefined && { ownSpend: ownSpendOf(definition, result.spend) }),
  };
}
