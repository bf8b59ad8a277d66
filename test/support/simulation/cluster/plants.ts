import type { SlicePlant } from './slices.js';
import type { LeaderCalls, SharedStore } from '../../../../server/store/shared.js';

/** A defect of nodes that share a store, to see that the simulation finds it. */
export interface ClusterPlant {
  /** Calls of a leader that do not check its lease. */
  readonly unfenced?: readonly (keyof LeaderCalls)[];
  /** Lists are written although what they were judged by has changed. */
  readonly hasNoGate?: boolean;
  /** A list that is sent again is acknowledged without a look at the windows. */
  readonly acksUnread?: boolean;
  /** A defect in the slices of epochs. */
  readonly slices?: SlicePlant;
  store?(real: SharedStore): SharedStore;
}

export const clusterPlantNames = [
  'no-fence', 'drawn-on-repeat', 'no-gate', 'acks-unread', 'late-slice', 'slice-twice',
] as const;
export type ClusterPlantName = (typeof clusterPlantNames)[number];

export function clusterPlantOf(name: ClusterPlantName | null): ClusterPlant {
  switch (name) {
    case null:
      return {};
    case 'no-fence':
      return { unfenced: ['storeRelease'] };
    case 'drawn-on-repeat':
      return { store: drawnOnRepeat };
    case 'no-gate':
      return { hasNoGate: true };
    case 'acks-unread':
      return { acksUnread: true };
    case 'late-slice':
      return { slices: { takesLateResults: true } };
    case 'slice-twice':
      return { slices: { sharesSlice: true } };
  }
}

/** A new leader takes a charged epoch for one to release, and a repeated charge for its own. */
function drawnOnRepeat(real: SharedStore): SharedStore {
  return {
    ...real,
    async unfinishedEpochs() {
      return (await real.unfinishedEpochs()).map((record) =>
        (record.state === 'charged' ? { ...record, state: 'closing' as const } : record));
    },
    async lead(...which) {
      const leadership = await real.lead(...which);
      return leadership === null ? null : {
        ...leadership,
        chargeEpoch: async (...charge) =>
          ({ ...await leadership.chargeEpoch(...charge), isMine: true }),
      };
    },
  };
}
