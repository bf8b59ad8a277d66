import type { Store, WithdrawalRequest, WithdrawalResult } from '../contract.js';
import { ledgerEntries, readBalance, readBalances } from './budgets.js';
import type { EpochTables } from './epoch-tables.js';
import * as epochs from './epochs.js';
import { readPeople } from './people.js';
import { addRotation, readRotations } from './key-rotations.js';
import { addQuarantines, readQuarantineOf, readQuarantines } from './quarantines.js';
import { readSeries } from './running-series.js';
import type { Steps } from './steps.js';
import * as studies from './studies.js';

/** The parts of a store that the shared calls need. */
export interface StoreParts {
  readonly tables: EpochTables;
  readonly secrets: epochs.ReadSecrets;
  readonly refund: epochs.Refund;
  readonly withdraw: (input: WithdrawalRequest) => Steps<WithdrawalResult>;
  readonly nowMs: () => number;
}

/** Methods of the store as parts of a transaction. */
export type StepsOf<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (
    ...args: infer Arguments
  ) => Promise<infer Result>
    ? (...args: Arguments) => Steps<Result> : never;
};

type SharedReads = Pick<Required<Store>,
  'study' | 'studies' | 'epoch' | 'unfinishedEpochs' | 'unpurgedEpochs' | 'balance' | 'balances'
  | 'ledgerEntries' | 'quarantines' | 'quarantineOf' | 'rotations' | 'contributorCount'
  | 'leftOutCount' | 'peopleCount' | 'series'>;

type SharedChanges = Pick<Required<Store>,
  'registerStudy' | 'setStudyState' | 'openEpoch' | 'beginClose' | 'turnEpoch' | 'lapseEpoch'
  | 'noteRecovery' | 'noteRecovered' | 'quarantine' | 'withdraw' | 'addRotation'>;

type SharedCharges = Pick<Store, 'chargeEpoch' | 'storeRelease'>;

/** Calls that change nothing. */
export const readsOf = ({ secrets, nowMs }: StoreParts): StepsOf<SharedReads> => ({
  study: studies.readStudy,
  studies: studies.readStudies,
  epoch: (studyId, epoch) => epochs.readEpoch(studyId, epoch, secrets),
  unfinishedEpochs: () => epochs.unfinishedEpochs(secrets),
  unpurgedEpochs: epochs.unpurgedEpochs,
  balance: (key) => readBalance(key, nowMs()),
  balances: () => readBalances(nowMs()),
  ledgerEntries,
  quarantines: readQuarantines,
  quarantineOf: readQuarantineOf,
  rotations: readRotations,
  contributorCount: epochs.contributorCount,
  leftOutCount: epochs.leftOutCount,
  peopleCount: readPeople,
  series: readSeries,
});

/** Calls that are one transaction each. */
export const changesOf = ({ tables, refund, withdraw }: StoreParts): StepsOf<SharedChanges> => ({
  registerStudy: (input) => studies.registerStudy(tables, input),
  setStudyState: studies.setStudyState,
  openEpoch: (input) => epochs.openEpoch(tables, input),
  beginClose: epochs.beginClose,
  turnEpoch: (studyId, closing, next) => epochs.turnEpoch(tables, studyId, closing, next),
  lapseEpoch: (studyId, epoch, nowMs) => epochs.lapseEpoch(studyId, epoch, nowMs, refund),
  noteRecovery: epochs.noteRecovery,
  noteRecovered: epochs.noteRecovered,
  quarantine: addQuarantines,
  withdraw,
  addRotation,
});

/** Changes after which a start must find no less: the charges and the logs. */
export const chargesOf = (): StepsOf<SharedCharges> => ({
  chargeEpoch: epochs.chargeEpoch, storeRelease: epochs.storeRelease,
});

type Calls = Readonly<Record<string, (...args: never[]) => Steps<unknown>>>;

/** The same methods, each run by `perform`. The caller states the type of its result. */
export function performed<Methods>(
  calls: object, perform: (steps: Steps<unknown>) => unknown,
): Methods {
  return Object.fromEntries(Object.entries(calls as Calls).map(([name, call]) =>
    [name, (...args: never[]) => perform(call(...args))])) as Methods;
}
