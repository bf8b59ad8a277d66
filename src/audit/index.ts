export { audit, auditTrialsMin, type AuditOptions } from './audit.js';
export type {
  AuditResult, Claim, Contributors, KnownNoise, LossBlock, LossPool, LossRequest, NeighbourPair,
  OutputBlock, Side, TrialPool, TrialRequest,
} from './contract.js';
export { provedAt } from './known-noise.js';
export { largestPair, searchPairs, type SearchOptions } from './search.js';
export type { PairFacts } from './pairs.js';
export { inlineTrials, TrialRunner, type TrialSubject } from './trials.js';
