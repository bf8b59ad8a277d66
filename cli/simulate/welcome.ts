import { openTransport } from '#websocket';
import { systemRuntime } from '../../client/base/defaults.js';
import { Connection } from '../../client/session/connection.js';
import type { VerifiedWelcome } from '../../client/session/handshake.js';
import { webSocketUrl } from '../../client/websocket/url.js';
import { KeelsonError } from '../../src/base/errors.js';
import { decodeStudyDocument } from '../../src/wire/index.js';

export interface WelcomeOptions {
  readonly url: string;
  /** 32 bytes: connect only to the server with this key. */
  readonly serverKey?: Uint8Array;
  /**
   * Called after each failed attempt; the next one follows. Absent: the first failure is thrown.
   */
  readonly onRetry?: (reason: string, retryInMs: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Asks a server for its studies, on a socket of its own.
 * @throws KeelsonError('transport-failed') if nobody answers, 'server-key-mismatch' for another
 *   server; InvalidParameterError for a URL that can never work.
 * @returns null if `signal` aborted first.
 */
export async function readWelcome(
  { url, serverKey, onRetry, signal }: WelcomeOptions,
): Promise<VerifiedWelcome | null> {
  webSocketUrl(url);
  let close = (): void => undefined;
  try {
    return await new Promise<VerifiedWelcome | null>((resolve, reject) => {
      const connection = new Connection({
        url, runtime: systemRuntime, openTransport, readFacts: decodeStudyDocument,
      }, {
        pinnedKeys: () => (serverKey === undefined ? [] : [serverKey]),
        onWelcome: resolve,
        onFrame: () => undefined,
        onDown: (reason, retryInMs) => {
          if (onRetry === undefined) reject(noAnswer(url, reason));
          else onRetry(reason, retryInMs);
        },
        onFatal: reject,
        isAwaiting: () => true,
      });
      close = () => connection.close();
      signal.addEventListener('abort', () => resolve(null), { once: true });
      connection.open();
    });
  } finally {
    close();
  }
}

function noAnswer(url: string, reason: string): KeelsonError {
  return new KeelsonError(
    'transport-failed',
    `no aggregator answers at ${url} (${reason}): check the address and that "keelson serve" runs `
      + 'there, or give --retry to wait for it',
  );
}
