import { webSocketUrl } from '../websocket/url.js';

/**
 * The HTTP address of a path of a server, below its WebSocket address.
 * @throws InvalidParameterError as `webSocketUrl`.
 */
export function httpUrl(url: string, path: string): string {
  const base = new URL(webSocketUrl(url).replace(/^ws/, 'http'));
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  base.search = '';
  return new URL(path, base).href;
}

/** The address of a server's uploads over HTTP. @throws InvalidParameterError as `webSocketUrl`. */
export function uploadUrl(url: string): string {
  return httpUrl(url, 'v1/batches');
}
