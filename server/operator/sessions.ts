import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.js';

/** The time for which a browser stays signed in. */
const lifetimeMs = 12 * 3_600_000;
/** Most browsers signed in at once. One more signs the oldest out. */
const sessionsMax = 64;

/**
 * Browsers in which the operator has signed in. They are kept in memory, so a restart signs all of
 * them out.
 */
export interface OperatorSessions {
  /** @returns the `Set-Cookie` header of a new session for the browser that sent `request`. */
  open(request: IncomingMessage): string;
  /** True if the request has the cookie of a session that is neither expired nor closed. */
  holds(request: IncomingMessage): boolean;
  /**
   * Ends the request's session. @returns the `Set-Cookie` header that makes the browser delete its
   * cookie.
   */
  close(request: IncomingMessage): string;
}

/**
 * Sessions hold a digest of the cookie, never the cookie. A lookup compares digests, so its timing
 * reveals nothing about a cookie of 32 random bytes. The cookie is not the token, scripts cannot
 * read it, and browsers send it only with requests of the server's own pages.
 */
export function createOperatorSessions(clock: Clock): OperatorSessions {
  const ends = new Map<string, number>();
  const clean = (): void => {
    const now = clock.monotonicMs();
    for (const [digest, endsMs] of ends) if (endsMs <= now) ends.delete(digest);
    for (const digest of ends.keys()) {
      if (ends.size < sessionsMax) break;
      ends.delete(digest);
    }
  };
  return {
    open(request) {
      clean();
      const id = randomBytes(32).toString('base64url');
      ends.set(digestOf(id), clock.monotonicMs() + lifetimeMs);
      return cookie(request, id, lifetimeMs / 1000);
    },
    holds(request) {
      const id = sentBy(request);
      if (id === undefined) return false;
      const endsMs = ends.get(digestOf(id));
      return endsMs !== undefined && clock.monotonicMs() < endsMs;
    },
    close(request) {
      const id = sentBy(request);
      if (id !== undefined) ends.delete(digestOf(id));
      return cookie(request, '', 0);
    },
  };
}

/**
 * True if a page of this server sent the request. Browsers put the sending page's origin on every
 * POST, and pages cannot change it. A page under a stranger's name for this server (DNS rebinding)
 * gets no cookie, so it has no session.
 */
export function isFromOwnPage({ headers: { origin, host } }: IncomingMessage): boolean {
  if (origin === undefined || host === undefined) return false;
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Cookies ignore ports. Without the port in the name, servers on one machine would sign each
 * other's operators out.
 */
function nameFor(request: IncomingMessage): string {
  return `keelson-operator-${request.socket.localPort ?? 0}`;
}

function cookie(request: IncomingMessage, value: string, maxAgeS: number): string {
  // True behind a proxy that does TLS for this server too: the page's own address shows it.
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  return `${nameFor(request)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; `
    + `SameSite=Strict${secure}`;
}

function sentBy(request: IncomingMessage): string | undefined {
  const name = `${nameFor(request)}=`;
  const found = request.headers.cookie?.split('; ').find((part) => part.startsWith(name));
  return found?.slice(name.length);
}

function digestOf(id: string): string {
  return createHash('sha256').update(id, 'utf8').digest('base64');
}
