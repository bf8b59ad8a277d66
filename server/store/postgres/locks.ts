import type { Store, StudyId } from '../contract.js';
import type { LeaderCalls } from '../shared.js';
import type { Locks } from './writer.js';

/** Changes that any node makes. */
export type NodeChanges = Pick<Required<Store>,
  'registerStudy' | 'withdraw' | 'quarantine' | 'addRotation' | 'repairTimes'>;

const ofStudy = (studyId: StudyId): Locks => ({ studies: [studyId] });
const ofInput = ({ studyId }: { readonly studyId: StudyId }): Locks => ofStudy(studyId);

const ofInputs = (inputs: readonly { readonly studyId: StudyId }[]): Locks =>
  ({ studies: [...new Set(inputs.map(({ studyId }) => studyId))] });

/** The locks of each change: every study whose admission must see it. */
type LocksOf<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => Locks : never;
};

/** By the names of the calls. A repair of times locks all studies. */
export const nodeLocks: LocksOf<Omit<NodeChanges, 'repairTimes'>> = {
  registerStudy: ({ studyId, budget }) =>
    ({ studies: [studyId], budget: budget.key, seals: true }),
  // It takes its own locks.
  withdraw: () => ({ studies: [] }),
  quarantine: ofInputs,
  addRotation: () => ({ studies: [] }),
};

/** By the names of the calls. A purge locks in steps. */
export const leaderLocks: LocksOf<Omit<LeaderCalls, 'purgeEpoch'>> = {
  setStudyState: ofStudy, beginClose: ofStudy,
  openEpoch: (input) => ({ ...ofInput(input), seals: true }),
  turnEpoch: (studyId) => ({ ...ofStudy(studyId), seals: true }),
  chargeEpoch: ofStudy, lapseEpoch: ofStudy, storeRelease: ofInput, noteRecovery: ofStudy,
  noteRecovered: ofStudy,
  quarantine: ofInputs,
};
