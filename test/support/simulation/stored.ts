import type { Engine } from '../../../server/store/sqlite/engine.js';

/** What a store holds now, read at once: the oracle compares it with what must be true. */
export type StoreReads = Pick<Engine,
  'study' | 'epoch' | 'unfinishedEpochs' | 'journal' | 'releases' | 'rotations' | 'balances'
  | 'ledgerEntries' | 'contributorState'>;
