import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** True if a request carries the operator's token. */
export type OperatorCheck = (request: IncomingMessage) => boolean;

/**
 * Accepts `Authorization: Bearer TOKEN`. Compares digests, in constant time. So the time of the
 * answer reveals neither the token nor its length.
 */
export function createOperatorCheck(token: string): OperatorCheck {
  const expected = digest(token);
  return (request) => {
    const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
    // An empty configured token must not match an empty token in a request.
    return match !== null && token !== '' && timingSafeEqual(digest(match[1]!), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
