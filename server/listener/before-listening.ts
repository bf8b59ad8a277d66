import { createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import { InvalidInputError, InvalidParameterError } from '../../src/base/errors.js';
import { isPageOrigin } from '../../src/base/page-origin.js';
import { trustedProxyCheck } from '../network/client-address.js';
import type { ListenerOptions, NetworkOptions } from '../network/options.js';

/**
 * Checks the options of a listener that need no hub and no keys, so before a data folder exists.
 * Checks also that it could listen. The port is free again afterwards, so
 * another process may still take it before the listener does.
 * @throws InvalidParameterError or InvalidInputError for an option; the system's error (e.g.
 *   EADDRINUSE) when nothing can listen there.
 */
export async function checkBeforeListening(
  options: NetworkOptions & Pick<ListenerOptions, 'host' | 'port'>,
): Promise<void> {
  const { allowedOrigins = [], allowedHosts = [], trustedProxies = [], tls } = options;
  allowedOrigins.filter((origin) => origin !== 'null').forEach(checkOrigin);
  options.frameAncestors?.forEach(checkOrigin);
  allowedHosts.forEach(checkHost);
  trustedProxyCheck(trustedProxies);
  if (tls !== undefined) {
    checkedIdentity(() => createSecureContext({ cert: tls.certificate, key: tls.key }));
  }
  await tryToListen(options);
}

/** @throws InvalidInputError when the TLS library refuses. Its own text may quote the file. */
export function checkedIdentity<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidInputError(
      'the TLS certificate and key cannot be used: give a PEM certificate chain and the '
      + 'unencrypted PEM key of its first certificate'
      + (code === undefined ? '' : ` (${code})`),
    );
  }
}

/**
 * Browsers send an origin in exactly one form. For pages without one they send "null": it may
 * connect, and is not checked here.
 */
function checkOrigin(origin: string): void {
  if (isPageOrigin(origin)) return;
  throw new InvalidParameterError(
    `${JSON.stringify(origin)} is not the origin of a page: `
    + 'write one like https://shop.example or http://127.0.0.1:8000, without a path',
    { origin },
  );
}

function checkHost(host: string): void {
  if (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host)) return;
  throw new InvalidParameterError(
    `${JSON.stringify(host)} is not a host name: write one like aggregator.example.org, `
    + 'in lower case and without a port',
    { host },
  );
}

function tryToListen({ host, port }: Pick<ListenerOptions, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
