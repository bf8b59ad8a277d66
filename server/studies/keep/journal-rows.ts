import { factsLimits } from '../../../src/base/facts-limits.js';
import {
  batchCells, batchRows, type BatchBody, type BatchCells,
} from '../../../src/wire/index.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';

/**
 * The rows of a body from the journal. It was verified and judged before it was journalled. Texts
 * and sizes are not judged again: another version of Unicode or of the server must not change the
 * verdict.
 *
 * Earlier versions accepted numbers of any finite size. In their journals a number beyond
 * `valueMax` counts as `valueMax`, so that sums stay finite. No listener accepts such a number any
 * more.
 */
export function journalledRows(
  body: BatchBody, types: StudyDocument['types'],
): { readonly values: Float64Array; readonly texts?: BatchCells['texts'] } {
  const rows = types === undefined ? { values: batchRows(body) }
    : batchCells(body, types, 'accepted');
  const { values } = rows;
  const { valueMax } = factsLimits;
  // NaN, where an optional column has no value, stays NaN.
  for (let i = 0; i < values.length; i++) {
    values[i] = Math.min(Math.max(values[i]!, -valueMax), valueMax);
  }
  return rows;
}
