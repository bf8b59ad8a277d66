import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/once-writer.js';
import { keyBytes, owned, ownSized, signatureBytes, sized, studyIdBytes } from './fields.js';
import type { Once } from './messages.js';
import { readStrictly } from './reader.js';
import { written } from './writer.js';

/** The body of POST /v1/once. @throws WireError('malformed') for what no server would accept. */
export function encodeOnce(once: Once): Uint8Array {
  return written(sent.v1.Once.encode({
    studyId: sized(once.studyId, studyIdBytes, 'study id'),
    publicKey: sized(once.publicKey, keyBytes, 'public key'),
    enrolment: once.enrolment ?? null,
    body: once.body,
    signature: sized(once.signature, signatureBytes, 'signature'),
  }));
}

/**
 * Reads such a body. The batch in it is a view of `bytes`: copy it before the bytes change.
 * @throws WireError('malformed') for any other bytes; never anything else.
 */
export function viewOnce(bytes: Uint8Array): Once {
  return readStrictly(bytes, 'contribution', (reader) => {
    const once = read.v1.Once.decode(reader);
    return {
      studyId: ownSized(once.studyId, studyIdBytes, 'study id'),
      publicKey: ownSized(once.publicKey, keyBytes, 'public key'),
      ...(once.enrolment.length > 0 && { enrolment: owned(once.enrolment) }),
      body: once.body,
      signature: ownSized(once.signature, signatureBytes, 'signature'),
    };
  });
}
