import { readFileSync } from 'node:fs';
import type { TlsIdentity } from '../../../server/listener/index.js';

/** One of the two self-signed certificates for localhost that lie beside this file. */
export function tlsIdentity(name: 'first' | 'second'): TlsIdentity {
  const read = (kind: string): string =>
    readFileSync(new URL(`${name}-${kind}.pem`, import.meta.url), 'utf8');
  return { certificate: read('cert'), key: read('key') };
}
