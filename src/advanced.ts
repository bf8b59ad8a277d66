/**
 * The parts of `estimate` and `plan`: the contract of estimators, groups that are filled and
 * merged elsewhere, mechanisms, privacy accounting, sources of randomness. For people who build
 * another system from the same proofs.
 *
 * @module keelson/advanced
 */
export * from './index.js';
export { protocolLimits, type Limits } from './base/limits.js';
export { refusalReasons } from './base/outcome.js';
export { partsByName, type Nested } from './base/parts.js';

export { parseParameters, type ParameterFacts } from './estimators/contract/parameters.js';
export {
  createGroups, decodeGroups, inlineCompute, mergeGroups, releaseGroups, runOffline,
  assignmentHashBytes, type ByteSource, type Groups, type GroupsProgress, type Kernels,
  type OfflineRun, type OwnedRows,
} from './estimators/run.js';

export type { NoiseSource } from './random/source.js';
export { secureNoise } from './random/secure.js';
export { seededRandom } from './random/work.js';

export { amountOf, amountToNumber, parseAmount } from './privacy/accounting/amount.js';
export type { BudgetRule, ArmComposition } from './privacy/accounting/cost.js';
export type { FoundKeys } from './privacy/mechanisms/contract.js';
export { createMechanisms, type PreparedMechanisms } from './privacy/mechanisms/index.js';
export { costOfEvents, chargeFits } from './privacy/accounting/composition.js';
export { eventsFromJson, eventsToJson } from './privacy/accounting/event-codec.js';
export {
  analyticGaussianDelta, analyticGaussianSigma,
} from './privacy/accounting/analytic-gaussian.js';
export {
  deltaOfZcdp, epsilonOfApproximateZcdp, epsilonOfZcdp, rhoForApproximateZcdp, rhoForZcdp,
} from './privacy/accounting/conversion.js';
export {
  lossOfReleases, type ChargedEvents, type StudyLoss,
} from './privacy/accounting/loss-distribution/index.js';
export {
  capsOf, perReleaseTarget, privacyTarget, targetFromRho, type BudgetCaps, type Statement,
} from './privacy/accounting/target.js';

export {
  bandFor, runningEvent, runningFactor, type RunningFactor,
} from './privacy/running/running-factor.js';
export { runningInputs, type RunningInputs } from './privacy/running/running-inputs.js';
