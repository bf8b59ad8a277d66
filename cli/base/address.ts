import { webSocketUrl } from '../../client/websocket/url.js';
import { UsageError } from './errors.js';

/** The argument of commands that connect to an aggregator; `aggregatorUrl` reads it. */
export const aggregatorArgument = {
  type: 'positional', required: true, description: 'the aggregator, like ws://127.0.0.1:8787',
} as const;

/** The flag by which they trust one server key only. */
export const serverKeyArgument = {
  type: 'string', valueHint: 'key',
  description: 'public key of the only aggregator to connect to, 64 hexadecimal digits',
} as const;

/**
 * The address of an aggregator as people type it: with ws, wss, http or https, or only a host.
 * @returns a ws: or wss: URL. A host alone gets ws:.
 * @throws UsageError for anything else.
 */
export function aggregatorUrl(typed: string): string {
  if (/^\d+$/.test(typed)) {
    throw new UsageError(
      `URL is "${typed}": a port needs its host, like 127.0.0.1:${typed}`, { url: typed },
    );
  }
  try {
    return webSocketUrl(typed.includes('://') ? typed : `ws://${typed}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`URL is "${typed}": ${why}`, { url: typed });
  }
}
