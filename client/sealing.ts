/**
 * Sealing, for contributors to studies whose rows no server sees. An entry of its own, since other
 * contributors need none of it.
 *
 * @module keelson/client/sealing
 */
import { signing } from '#signing';
import { fromHex } from '../src/base/bytes.js';
import { KeelsonError } from '../src/base/errors.js';
import { sealRow } from '../src/sealed/shares/sealing.js';
import { sharePlanOf } from '../src/sealed/shares/share-plan.js';
import { verifiedBoxKeys } from '../src/sealed/shares/statements.js';
import type { Sealing } from './session/channel-contract.js';

export { promiseOf } from './sealed-promise.js';
export type { Sealing, SealingInput } from './session/channel-contract.js';

/**
 * Seals contributions: the rows become one row, and each of the study's three servers gets shares
 * of it that say nothing alone. An entry of its own, so that pages without sealed studies do not
 * load it. About 5 ms of processor time, and 616 bytes for ten columns.
 * @throws KeelsonError('unsupported') for a study that is not sealed; WireError('bad-signature')
 *   when the epoch's box keys are not signed by the three servers in the study's facts.
 * @example
 * import { sealing } from 'keelson/client/sealing';
 * const contributor = createContributor({ url, study, seed, sealing });
 * await contributor.contribute([[12, 7.5]]);
 */
export const sealing: Sealing = (input) => {
  const { document, rows, studyId, epoch, sequence, contributorKey, boxKeys } = input;
  const { sealed, columns, questions: [asked] } = document;
  if (sealed === undefined) {
    throw new KeelsonError('unsupported', `the study ${document.study} is not sealed`);
  }
  const { estimator, parameters, reduce } = asked!;
  const serverKeys = sealed.servers.map(({ key }) => fromHex(key));
  const keys = verifiedBoxKeys(signing, studyId, epoch, serverKeys, boxKeys);
  const { form, valuesOf } =
    sharePlanOf({ estimator, parameters, columns: columns.length, sealed });
  const row = reduced(rows, columns.length, reduce);
  return sealRow(signing, valuesOf(row), {
    form, place: { studyId, epoch, sequence }, contributorKey, boxKeys: keys,
  });
};

/** The one row of a contributor, as the study's facts say. */
function reduced(
  rows: Float64Array, columns: number, reduce: 'mean' | 'sum' | 'one',
): Float64Array {
  const count = rows.length / columns;
  if (reduce === 'one') {
    const at = Math.floor(uniform() * count);
    return rows.subarray(at * columns, (at + 1) * columns);
  }
  const sums = new Float64Array(columns);
  rows.forEach((value, i) => { sums[i % columns]! += value; });
  return reduce === 'sum' ? sums : sums.map((sum) => sum / count);
}

/** From 0 to 1, in steps of 2^-48. */
function uniform(): number {
  return signing.randomBytes(6).reduce((sum, byte) => (sum + byte) / 256, 0);
}
