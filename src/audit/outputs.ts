import { noiseDeviations } from '../base/noise-deviations.js';
import { refusalReasons, type Outcome } from '../base/outcome.js';
import type { Plan } from '../estimators/contract/estimator.js';

/** Entries of an estimate that an audit examines. It ignores the rest of a larger estimate. */
const entriesMax = 32;
/** The first columns: the kind of outcome and the length of the estimate. */
const headColumns = 2;

/** How many entries of the estimate are kept. */
function entriesOf(plan: Plan): number {
  const size = plan.outputShape.reduce((product, extent) => product * extent, 1);
  return Number.isSafeInteger(size) && size > 0 ? Math.min(size, entriesMax) : entriesMax;
}

/**
 * Number of columns of an output: its kind, its length, entries of the estimate, as many entries of
 * the stated uncertainty, and the estimate divided by that uncertainty. If a sum was divided by a
 * noisy count, the last one is free of the count.
 */
export function outputWidth(plan: Plan): number {
  return headColumns + 3 * entriesOf(plan);
}

/** True if a column of an output is about one of these entries of the estimate. */
export function isAbout(entries: ReadonlySet<number>, column: number, width: number): boolean {
  return column >= headColumns
    && entries.has((column - headColumns) % ((width - headColumns) / 3));
}

/**
 * Writes everything that a release publishes, as numbers. A refusal is an output like any other.
 * Its reason and public numbers fix its text, except for lists of columns. So the digest of the
 * text is written too.
 */
export function writeOutput(
  outcome: Outcome, target: Float64Array, offset: number, width: number,
): void {
  target.fill(0, offset, offset + width);
  const entries = (width - headColumns) / 3;
  if (outcome.kind === 'refused') {
    target[offset] = 1 + refusalReasons.indexOf(outcome.reason);
    target[offset + 1] = textDigest(outcome.text);
    return;
  }
  target[offset + 1] = outcome.estimate.length;
  copy(outcome.estimate, target, offset + headColumns, entries);
  const { uncertainty } = outcome;
  const second = offset + headColumns + entries;
  const deviations = noiseDeviations(uncertainty);
  if (deviations !== null) {
    copy(deviations, target, second, entries);
    for (let i = 0; i < entries; i++) {
      const unit = target[second + i]!;
      target[second + entries + i] = unit > 0
        ? finite(target[offset + headColumns + i]! / unit) : 0;
    }
  } else if (uncertainty.kind === 'relative') target[second] = uncertainty.operator;
  else if (uncertainty.kind === 'grid') target[second] = uncertainty.spacing;
}

/** Writes a trial that asked for an answer that was not recorded. This is an outcome of its own. */
export function writeUnanswered(target: Float64Array, offset: number, width: number): void {
  target.fill(0, offset, offset + width);
  target[offset] = 1 + refusalReasons.length;
}

function copy(from: readonly number[], target: Float64Array, offset: number, most: number): void {
  const count = Math.min(most, from.length);
  for (let i = 0; i < count; i++) target[offset + i] = finite(from[i]!);
}

function finite(entry: number): number {
  return Number.isFinite(entry) ? entry : Math.sign(entry || 0) * Number.MAX_VALUE;
}

/** A small number that distinguishes texts. */
function textDigest(text: string): number {
  let digest = 7;
  for (let i = 0; i < text.length; i++) digest = (digest * 31 + text.charCodeAt(i)) % 65_521;
  return digest;
}
