/**
 * The wire codec: bytes on one side, the types of messages.ts on the other.
 * docs/reference/protocol.md describes the exchange.
 */
export { decodeBatchBody, encodeBatchBody } from './batch-body.js';
export { decodeClientFrame, encodeClientFrame, viewClientFrame } from './client-frames.js';
export { FrameSplitter, joinFrames, splitFrames } from './delimited.js';
export { decodeHeadBody, encodeHeadBody } from './head-body.js';
export type * from './messages.js';
export { ofShortAnswer } from './messages.js';
export { encodeOnce, viewOnce } from './once.js';
export { decodeReleaseBody, encodeReleaseBody } from './release-body.js';
export { batchCells, cellsPerBatch, encodeCells, type BatchCells } from './cells.js';
export { isWireState, signatureBytes } from './fields.js';
export { numberBytes } from './numbers.js';
export { batchRows, encodeRows, firstUnusable, viewBatchRows } from './rows.js';
export {
  decodeAck, decodeServerFrame, decodeUnsignedReady, encodeAck, encodeServerFrame,
  encodeUnsignedReady,
} from './server-frames.js';
export { textAt, type TextTable } from '../base/text-table.js';
export { textsPerBatch } from './text-cells.js';
export {
  decodeContributorFacts, decodeStudyDocument, encodeStudyDocument, studyId,
} from './study-codec.js';
export { ofShortFacts } from './study-document.js';
export type { SharedFacts, ShortFacts, StudyDocument } from './study-document.js';

/** The WebSocket subprotocol that both sides must name. It has no encrypted channels. */
export const subprotocol = 'keelson.v1';
/** The subprotocol with encrypted channels. It has everything of the other one, too. */
export const encryptedSubprotocol = 'keelson.v2';
/** The subprotocols that this version speaks, best first. A client offers both. */
export const subprotocols = [encryptedSubprotocol, subprotocol] as const;
