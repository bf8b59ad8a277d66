import {
  digestBytes, keyBytes, ownSized, sized, stateFromWire, stateToWire, studyIdBytes,
} from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/other-writer.js';
import type { HeadBody } from './messages.js';
import { readStrictly } from './reader.js';
import { written } from './writer.js';

/** The bytes that the server signs as the head of a release log. */
export function encodeHeadBody(body: HeadBody): Uint8Array {
  return written(sent.v1.HeadBody.encode({
    serverKey: sized(body.serverKey, keyBytes, 'server key'),
    studyId: sized(body.studyId, studyIdBytes, 'study id'),
    count: toLong(body.count, 'count'),
    digest: sized(body.digest, digestBytes, 'digest'),
    state: stateToWire(body.state),
  }));
}

/** @throws WireError('malformed') for any other bytes; never anything else. */
export function decodeHeadBody(bytes: Uint8Array): HeadBody {
  return readStrictly(bytes, 'head body', (reader) => {
    const body = read.v1.HeadBody.decode(reader);
    return {
      serverKey: ownSized(body.serverKey, keyBytes, 'server key'),
      studyId: ownSized(body.studyId, studyIdBytes, 'study id'),
      count: toBigint(body.count),
      digest: ownSized(body.digest, digestBytes, 'digest'),
      state: stateFromWire(body.state),
    };
  });
}
