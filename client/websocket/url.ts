import { InvalidParameterError } from '../../src/base/errors.js';

/**
 * The WebSocket address of a server. http and https become ws and wss.
 * @throws InvalidParameterError for anything else.
 */
export function webSocketUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new InvalidParameterError(
      'the server URL cannot be read: write it like ws://127.0.0.1:8787',
    );
  }
  const schemes: Readonly<Record<string, string>> = {
    'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:',
  };
  const scheme = schemes[parsed.protocol];
  if (scheme === undefined) {
    const found = parsed.protocol.slice(0, -1);
    throw new InvalidParameterError(`the server URL begins with ${found}: use ws: or wss:`);
  }
  if (parsed.hash !== '') {
    throw new InvalidParameterError('the server URL has a fragment (#...): leave it out');
  }
  return scheme + parsed.href.slice(parsed.protocol.length);
}
