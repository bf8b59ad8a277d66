import type { AuditResult } from './contract.js';

/** The result of an audit. `inconclusive`: nothing was tested. */
export type Verdict = 'defect' | 'no-defect-seen' | 'inconclusive';

/**
 * An audit in which no pair moved anything would pass whatever the estimator did.
 * @param exact - what comparing calls without sampling found.
 * @param isWhole - whether all events were audited: those alone are compared without sampling.
 */
export function verdictOf(
  { caught, known, bound }: AuditResult,
  exact: { readonly moved: number; readonly faults: readonly string[] }, isWhole: boolean,
): Verdict {
  if (caught || exact.faults.length > 0) return 'defect';
  const moved = known?.moved === true || bound > 0
    || ((isWhole || known === null) && exact.moved > 0);
  return moved ? 'no-defect-seen' : 'inconclusive';
}
