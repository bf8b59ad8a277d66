import { refusalReasons, type Outcome } from '../base/outcome.js';
import type { Plan } from '../estimators/contract/estimator.js';

/** Entries of an estimate that an audit looks at; the rest of a larger one is left out. */
const entriesMax = 32;
/** The first columns: kind of outcome, length of the estimate. */
const headColumns = 2;

/** How many entries of the estimate are kept. */
function entriesOf(plan: Plan): number {
  const size = plan.outputShape.reduce((product, extent) => product * extent, 1);
  return Number.isSafeInteger(size) && size > 0 ? Math.min(size, entriesMax) : entriesMax;
}

/**
 * Columns of an output: its kind, its length, entries of the estimate, as many of its stated uncertainty, and the
 * estimate in units of that: a sum that was divided by a noisy count, say, without the count.
 */
export function outputWidth(plan: Plan): number {
  return headColumns + 3 * entriesOf(plan);
}

/**
 * Writes everything that a release publishes as numbers: a refusal is an output like any other, by its reason. The text of
 * a refusal is fixed by its reason and public numbers, but for lists of columns: their digest is written instead.
 */
export function writeOutput(outcome: Outcome, target: Float64Array, offset: number, width: number): void {
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
  if (uncertainty.kind === 'gaussian') {
    copy(uncertainty.standardDeviation, target, second, entries);
    for (let i = 0; i < entries; i++) {
      const unit = target[second + i]!;
      target[second + entries + i] = unit > 0 ? finite(target[offset + headColumns + i]! / unit) : 0;
    }
  } else if (uncertainty.kind === 'relative') target[second] = uncertainty.operator;
  else if (uncertainty.kind === 'grid') target[second] = uncertainty.spacing;
}

/** A trial that asked for more than the given answers hold: an outcome of its own. */
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

/** A small number that tells texts apart. */
function textDigest(text: string): number {
  let digest = 7;
  for (let i = 0; i < text.length; i++) digest = (digest * 31 + text.charCodeAt(i)) % 65_521;
  return digest;
}
