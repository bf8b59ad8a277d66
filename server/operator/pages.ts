import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { packageFile } from '../base/place.js';
import type { Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/**
 * Pages use only their own scripts and styles, none inline. They can reach only this server and its
 * socket.
 * @param ancestors origins whose pages may show this one in a frame.
 */
const pagePolicy = (ancestors: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
  + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
  + (ancestors.length === 0 ? "'none'" : ancestors.join(' '));

const element = 'keelson-chart.js';
let packedElement: Promise<Buffer> | undefined;

/** The package has the element once, as bundlers need it, so it is compressed here. */
async function packedFile(name: string): Promise<Buffer> {
  if (name !== element) return readFile(packageFile(`dist/dashboard/site/${name}.gz`));
  packedElement ??= readFile(packageFile(`dist/browser/${element}`))
    .then(async (plain) => promisify(gzip)(plain, { level: 9 }))
    .catch((error: unknown) => {
      packedElement = undefined;
      throw error;
    });
  return packedElement;
}

/**
 * A fixed file of the dashboard. Its compressed form is sent as it is to browsers
 * that accept it. Its content is the same for all readers.
 * @param name never text of a request, unless a pattern without slashes and dots admitted it.
 * @param isFramed whether the pages that the operator listed may show it in a frame.
 */
export function pageFile(
  name: string, type: string, isFramed = false,
): (exchange: Exchange) => Promise<void> {
  return async ({ request, response, isHead, frameAncestors }) => {
    const accepted =
      /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(String(request.headers['accept-encoding'] ?? ''));
    const packed = await packedFile(name).catch(() => {
      throw new HttpError(404, 'not-found', 'the dashboard has no such file: reload its page, or '
        + 'run npm run build if it was never built');
    });
    const body = accepted ? packed : await promisify(gunzip)(packed);
    if (accepted) response.setHeader('Content-Encoding', 'gzip');
    response.appendHeader('Vary', 'Accept-Encoding');
    const ancestors = isFramed ? frameAncestors : [];
    // Old browsers know only this header, and it cannot name an origin.
    if (ancestors.length > 0) response.removeHeader('X-Frame-Options');
    response.setHeader('Content-Security-Policy', pagePolicy(ancestors));
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    response.end(isHead ? undefined : body);
  };
}
