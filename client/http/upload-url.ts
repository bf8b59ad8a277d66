import { webSocketUrl } from '../websocket/url.js';

/**
 * Where a server takes uploads over HTTP, below its WebSocket address.
 * @throws InvalidParameterError as `webSocketUrl`.
 */
export function uploadUrl(url: string): string {
  const base = new URL(webSocketUrl(url).replace(/^ws/, 'http'));
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  base.search = '';
  return new URL('v1/batches', base).href;
}
