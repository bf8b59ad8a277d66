/**
 * Sealing, for contributors to studies whose rows no server sees. An entry of its own, since other
 * contributors need none of it.
 *
 * @module keelson/client/sealing
 */
import { signing } from '#signing';
import { fromHex } from '../src/base/bytes.js';
import { KeelsonError } from '../src/base/errors.js';
import { StudyReduction } from '../src/questions/reduction.js';
import { sealEntry } from '../src/sealed/shares/sealing.js';
import { sharePlansOf } from '../src/sealed/shares/study-shares.js';
import { verifiedBoxKeys } from '../src/sealed/shares/statements.js';
import type { Sealing, SealingInput } from './session/channel-contract.js';

export { promiseOf } from './sealed-promise.js';
export type { Sealing, SealingInput } from './session/channel-contract.js';

/**
 * Seals contributions: the rows become one row for each question, or none, as the study's facts
 * say, and each of the study's three servers gets shares of it that say nothing alone. All entries
 * of a study have one length, whatever was sent. An entry of its own, so that pages without sealed
 * studies do not load it. About 5 ms of processor time, and 616 bytes for ten columns.
 * @throws KeelsonError('unsupported') for a study that is not sealed; WireError('bad-signature')
 *   when the epoch's box keys are not signed by the three servers in the study's facts;
 *   WireError('malformed') when the facts are none of a study.
 * @example
 * import { sealing } from 'keelson/client/sealing';
 * const contributor = createContributor({ url, study, seed, sealing });
 * await contributor.contribute([[12, 7.5]]);
 */
export const sealing: Sealing = (input) => {
  const { document, studyId, epoch, sequence, contributorKey, boxKeys } = input;
  const { sealed } = document;
  if (sealed === undefined) {
    throw new KeelsonError('unsupported', `the study ${document.study} is not sealed`);
  }
  const serverKeys = sealed.servers.map(({ key }) => fromHex(key));
  const keys = verifiedBoxKeys(signing, studyId, epoch, serverKeys, boxKeys);
  const own = reduced(input);
  const plans = sharePlansOf({ ...document, sealed });
  return sealEntry(signing, plans.map(({ valuesOf }, i) => valuesOf(own[i]![0] ?? null)), {
    forms: plans.map(({ form }) => form), place: { studyId, epoch, sequence }, contributorKey,
    boxKeys: keys,
  });
};

/** A contributor's row for each question: at most one, as the study's facts say. */
function reduced(
  { document, rows: values, texts }: SealingInput,
): readonly (readonly Float64Array[])[] {
  const { columns, types, questions } = document;
  const rows = values.length / columns.length;
  const reduction = new StudyReduction(questions, document);
  const own = reduction.empty();
  reduction.add(own, {
    values, rows, ranks: Float64Array.from({ length: rows }, uniform),
    texts: types?.map(({ type }) => (type === 'text' ? texts ?? [] : null)),
  }, { keySecret: () => signing.randomBytes(32) });
  return reduction.rowsOf(own);
}

/** From 0 to 1, in steps of 2^-48. */
function uniform(): number {
  return signing.randomBytes(6).reduce((sum, byte) => (sum + byte) / 256, 0);
}
