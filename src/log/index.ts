/** The release log: its lines, and the verification of logs and of live releases. */
export { LogError, logFaultCodes } from './faults.js';
export type { LogFaultCode } from './faults.js';
export { decodeLogLine, encodeLogLine, logLines } from './log-line.js';
export type { HeadLine, LogLine, ReleaseLine, RotationLine, StudyLine } from './log-line.js';
export { chainStart, ReleaseChain } from './release-chain.js';
export type { ChainOptions, ChainPosition } from './release-chain.js';
export { verifyReleaseLog } from './verify-release-log.js';
export type { LogFault, LogReport, LogVerification } from './verify-release-log.js';
