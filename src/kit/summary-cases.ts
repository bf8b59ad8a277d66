import { changedGroups } from '../audit/changed-groups.js';
import { utf8 } from '../base/bytes.js';
import type { Finished } from '../estimators/contract/estimator.js';
import { createGroups, decodeGroups } from '../estimators/run.js';
import { seededRandom } from '../random/work.js';
import type { Case } from './case.js';
import { check, checkRefuses, checkSame, written } from './checks.js';
import { shuffled } from './sample.js';
import type { Trial } from './trial.js';

/** Rules for the summaries of every estimator, in which rows are collected. */
export const summaryCases: readonly Case[] = [
  { name: 'do not depend on the order of rows, and neither does the release', run: haveNoOrder },
  { name: 'survive their codec', repeats: true, run: surviveCodec },
  { name: 'merge to what one summary of all rows gives', run: merge },
  { name: 'change in one place when one contributor is replaced, or absent', run: changeOnce },
  {
    name: 'refuse rows of another dimension, and take a row that is not a number for no row',
    run: refuseRows,
  },
];

async function haveNoOrder(trial: Trial): Promise<void> {
  const data = trial.data('order');
  const list = trial.entries(data, trial.sample.cohort);
  const [first, second] = await Promise.all([list, shuffled(list, data)]
    .map((each) => trial.release(trial.filled(each), 'order')));
  check(first!.kind === 'value', 'a release of the whole cohort has no answer');
  checkSame(second, first, 'the same rows in another order have another release');
}

async function surviveCodec(trial: Trial): Promise<void> {
  const { plan, sample: { dimension, cohort } } = trial;
  const groups = trial.filled(trial.entries(trial.data('codec'), cohort));
  const bytes = groups.encode();
  const decoded = decodeGroups(plan, dimension, bytes);
  checkSame(decoded.encode(), bytes, 'a summary that was decoded is encoded as other bytes');
  checkSame(
    await trial.release(decoded, 'codec'), await trial.release(groups, 'codec'),
    'a summary that was decoded has another release',
  );
  const cut = bytes.subarray(0, bytes.length - 1);
  checkRefuses(() => decodeGroups(plan, dimension, cut), 'a summary that was cut is decoded');
  checkRefuses(() => decodeGroups(plan, dimension + 1, bytes),
    'a summary of other columns is decoded');
}

function merge(trial: Trial): void {
  const { plan, sample } = trial;
  for (const { name, mode } of plan.arms) {
    const data = trial.data('merge');
    const summary = plan.summary(name);
    let [whole, left, right] = [summary.empty(), summary.empty(), summary.empty()];
    for (let i = 0; i < 21; i++) {
      const row = sample.honest(data);
      whole = summary.add(whole, row, BigInt(i));
      if (i % 3 === 0) left = summary.add(left, row, BigInt(i));
      else right = summary.add(right, row, BigInt(i));
    }
    const work = seededRandom(utf8('merge'));
    const merged = summary.finish(summary.merge(left, right), work);
    const direct = summary.finish(whole, work);
    check((merged.kind === 'pooled') === (mode === 'pooled'),
      `the summaries of ${name} are not in the mode of the plan`);
    checkClose(merged, direct);
  }
}

/** A merged summary adds up in another order, so its numbers may differ in the last bits. */
function checkClose(merged: Finished, direct: Finished): void {
  const broken = 'a merged summary is not that of all rows';
  if (merged.kind === 'label' || direct.kind === 'label') {
    checkSame(merged, direct, broken);
    return;
  }
  const found = numbersOf(merged);
  check(numbersOf(direct).every((value, i) => Math.abs(found[i]! - value) < 5e-10), broken);
}

function numbersOf(item: Exclude<Finished, { readonly kind: 'label' }>): Float64Array {
  if (item.kind === 'places') return Float64Array.from(item.counts);
  if (item.kind !== 'pooled') return item.statistic.values;
  const { values, tags, count, dimension } = item.rows;
  if (tags.length === count) return values;
  // Rows without tags come in the order of arrival, on which a release must not depend.
  const rows = Array.from({ length: count }, (_, i) =>
    [...values.subarray(i * dimension, (i + 1) * dimension)]);
  return Float64Array.from(rows.sort((one, other) => one[0]! - other[0]!).flat());
}

function changeOnce(trial: Trial): void {
  const data = trial.data('neighbours');
  const list = trial.entries(data, 400);
  const work = seededRandom(utf8('neighbours'));
  const before = trial.filled(list).finish(work);
  for (let round = 0; round < 10; round++) {
    const index = data.below(list.length);
    const absent = list.filter((_, i) => i !== index);
    const far = { ...list[index]!, row: new Float64Array(trial.sample.dimension).fill(1e12) };
    for (const neighbour of [absent, list.map((entry, i) => (i === index ? far : entry))]) {
      const changed = changedGroups(before, trial.filled(neighbour).finish(work), written);
      check(changed <= 1, `one contributor changes ${changed} groups`);
    }
  }
}

async function refuseRows(trial: Trial): Promise<void> {
  const { plan, sample: { dimension, cohort } } = trial;
  const data = trial.data('null');
  const groups = createGroups(plan, dimension);
  const wide = new Float64Array(dimension + 1);
  checkRefuses(() => groups.add(data.assignmentHash(), wide), 'a row of other columns is taken');
  const list = trial.entries(data, cohort);
  const none = {
    assignmentHash: data.assignmentHash(), row: new Float64Array(dimension).fill(NaN),
  };
  checkSame(
    await trial.release(trial.filled([...list, none]), 'null'),
    await trial.release(trial.filled(list), 'null'),
    'a row that is not a number changes a release',
  );
}
