import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Whether a request carries the operator's token. */
export type OperatorCheck = (request: IncomingMessage) => boolean;

/**
 * Accepts `Authorization: Bearer TOKEN`. Digests are compared, in constant time, so neither the
 * token nor its length shows in how long the answer takes.
 */
export function createOperatorCheck(token: string): OperatorCheck {
  const expected = digest(token);
  return (request) => {
    const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
    // An empty token would open everything to whoever guesses that it is empty.
    return match !== null && token !== '' && timingSafeEqual(digest(match[1]!), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
