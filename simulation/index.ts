/**
 * Simulated contributors, honest and hostile, and the true answers of their epochs. Not part of the
 * SDK's bundle.
 */
export {
  attackNames, abuses, findAttack, isProtocolAttack, numberAttacks, protocolAttacks,
  rowAttacks,
} from './attacks/index.js';
export type { Abuse, AttackContext, ProtocolAttack, RowAttack } from './attacks/index.js';
export { contributorSeed, createFleet } from './fleet.js';
export type { Fleet, FleetOptions, Tactics } from './fleet-options.js';
export { datasetSource, gaussianSource } from './data/sources.js';
export type { DatasetSourceOptions, GaussianSourceOptions, RowSource } from './data/sources.js';
export { madeUpTexts, syntheticSource } from './data/synthetic.js';
export type { FleetStatistics } from './statistics.js';
export { reduceRows, truthOf, TruthSums } from './truth.js';
export type { Truth } from './truth.js';
