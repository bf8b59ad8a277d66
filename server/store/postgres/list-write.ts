import { pureText, type PureAmount } from '../../../src/privacy/accounting/amount.js';
import type { AdmissionRequest } from '../contract.js';
import type { ListAdmission } from '../rules/admission-list.js';
import type { PostgresFacts } from './admission-facts.js';
import { byteaArray, int8Array, textArray } from './arrays.js';
import type { LoadedList } from './loaded-list.js';
import { sealRow } from './row-seal.js';

/** The places of the parameters of `admit_list`. */
const parameters = Array.from({ length: 49 }, (_, i) => `$${i + 1}`).join(', ');

/** Writes the results that still hold; see migrations/functions.ts. */
export const admitText = `SELECT admit_list(${parameters}) AS admitted`;

const bit = (flag: boolean): bigint => (flag ? 1n : 0n);

/** True if the list changes anything. */
export function writesAnything(admission: ListAdmission<PostgresFacts>): boolean {
  return admission.changed().next().done !== true;
}

/**
 * The parameters of `admit_list`.
 * @param begin the parameters of `begin_write`.
 */
export function listParameters(
  begin: readonly unknown[], list: LoadedList, admission: ListAdmission<PostgresFacts>,
  batches: readonly AdmissionRequest[],
): unknown[] {
  const studies = new Map<bigint, bigint>();
  for (const { studyId } of batches) {
    const facts = list.study(studyId);
    if (facts !== undefined) studies.set(facts.studyKey, facts.revision);
  }
  const locked = [...studies].sort(([left], [right]) => (left < right ? -1 : 1));
  return [
    ...begin, int8Array(locked.map(([key]) => key)), int8Array(locked.map(([, of]) => of)),
    int8Array([...list.newIds.values()]),
    byteaArray([...list.newIds.keys()].map((key) => Buffer.from(key, 'hex'))),
    ...windowParameters(list, admission), ...tallyParameters(admission, list),
    ...journalParameters(list), ...spendParameters(list), ...newKeyParameters(list),
    ...peopleParameters(admission),
  ];
}

function windowParameters(
  list: LoadedList, admission: ListAdmission<PostgresFacts>,
): Buffer[] {
  // Two lists that change the same rows lock them in the same order.
  const changed = [...admission.changed()].sort((left, right) =>
    Number(left.study.studyKey - right.study.studyKey)
      || Number(left.contributorId - right.contributorId));
  const numbers = (of: (each: typeof changed[number]) => bigint): Buffer =>
    int8Array(changed.map(of));
  return [
    numbers(({ study }) => study.studyKey), numbers(({ contributorId }) => contributorId),
    numbers(({ study, contributorId }) => list.versionOf(study.studyKey, contributorId)),
    numbers(({ state }) => BigInt(state.window.contiguous)),
    numbers(({ state }) => BigInt(state.window.high)), numbers(({ state }) => state.epochKey),
    numbers(({ state }) => BigInt(state.rows)), numbers(({ state }) => bit(state.complete)),
    byteaArray(changed.map(({ state }) => state.window.entries)),
  ];
}

function tallyParameters(
  { tallies }: ListAdmission<PostgresFacts>, { journalled }: LoadedList,
): Buffer[] {
  const none = { contributors: 0, leftOut: 0, complete: 0 };
  const counted = new Map([...tallies].map(([epochKey, { contributors, leftOut }]) =>
    [epochKey, { contributors, leftOut, complete: 0 }]));
  for (const { epochKey, complete } of journalled) {
    const tally = counted.get(epochKey) ?? { ...none };
    if (complete) tally.complete += 1;
    if (complete) counted.set(epochKey, tally);
  }
  const numbers = (name: keyof typeof none): Buffer =>
    int8Array([...counted.values()].map((tally) => BigInt(tally[name])));
  return [
    int8Array([...counted.keys()]), numbers('contributors'), numbers('complete'),
    numbers('leftOut'),
  ];
}

function journalParameters(list: LoadedList): Buffer[] {
  const { journalled } = list;
  return [
    int8Array(journalled.map(({ epochKey }) => epochKey)),
    int8Array(journalled.map(({ position }) => position)),
    int8Array(journalled.map(({ contributorId }) => contributorId)),
    int8Array(journalled.map(({ batch }) => batch.sequence)),
    int8Array(journalled.map(({ complete }) => bit(complete))),
    byteaArray(journalled.map((row) => sealedRow(list, row))),
  ];
}

function sealedRow(
  list: LoadedList, { position, batch, complete }: LoadedList['journalled'][number],
): Uint8Array {
  const { studyId, contributor, sequence, signature, body } = batch;
  const { open, encryptionKey } = list.study(studyId)!;
  const place = { studyId, epoch: open!.epoch, position, contributor, sequence, complete };
  return sealRow(encryptionKey!, place, signature, body);
}

function spendParameters({ spends, debits, entered }: LoadedList): Buffer[] {
  const sums = [...spends.values()];
  return [
    int8Array(sums.map(({ budgetId }) => budgetId)),
    int8Array(sums.map(({ contributorId }) => contributorId)),
    int8Array(sums.map(({ version }) => version)),
    textArray(sums.map(({ total }) => String(total.rho))),
    textArray(sums.map(({ total }) => String(total.delta))),
    pureArray(sums.map(({ total }) => total.pure)),
    int8Array(debits.map(({ budgetId }) => budgetId)),
    int8Array(debits.map(({ contributorId }) => contributorId)),
    int8Array(debits.map(({ epochKey }) => epochKey)),
    textArray(debits.map(({ cost }) => String(cost.rho))),
    textArray(debits.map(({ cost }) => String(cost.delta))),
    pureArray(debits.map(({ cost }) => cost.pure)),
    int8Array(entered.map(({ studyKey }) => studyKey)),
    int8Array(entered.map(({ contributorId }) => contributorId)),
    int8Array(entered.map(({ epoch }) => epoch)),
  ];
}

/** An array here has no NULL: `none` is the empty text. */
const pureArray = (amounts: readonly PureAmount[]): Buffer =>
  textArray(amounts.map((amount) => pureText(amount) ?? ''));

function newKeyParameters({ periods }: LoadedList): Buffer[] {
  const counted = periods.counted();
  return [
    textArray(counted.map(({ study }) => study)),
    int8Array(counted.map(({ perMs }) => BigInt(perMs))),
    int8Array(counted.map(({ now }) => BigInt(now.fromMs))),
    int8Array(counted.map(({ now }) => BigInt(now.keys))),
    int8Array(counted.map(({ read }) => BigInt(read?.fromMs ?? -1))),
    int8Array(counted.map(({ read }) => BigInt(read?.keys ?? -1))),
  ];
}

function peopleParameters({ tallies }: ListAdmission<PostgresFacts>): Buffer[] {
  const came = [...tallies].filter(([, { contributors }]) => contributors > 0);
  return [
    int8Array(came.map(([epochKey]) => epochKey)),
    int8Array(came.map(([, { contributors }]) => BigInt(contributors))),
    int8Array(came.map(([, { peopleMax }]) => BigInt(peopleMax))),
  ];
}
