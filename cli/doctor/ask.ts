import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import type { TLSSocket } from 'node:tls';

const timeoutMs = 10_000;

/** The response to a GET. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly dateMs: number;
  /** The end of the certificate's validity; undefined without TLS. */
  readonly validToMs?: number;
  /** The reason why this machine does not trust the certificate; undefined when it does. */
  readonly distrust?: string;
}

/** The part of /v1/studies that is read here. */
export interface Served {
  readonly serverKey: string;
  readonly studies: readonly {
    readonly id: string; readonly name: string; readonly state: string;
  }[];
}

/** The list in an answer of /v1/studies; why there is none where something else answered. */
export function servedIn({ status, text }: Answer): Served | string {
  if (status !== 200) return `answers ${status}`;
  try {
    const found = JSON.parse(text) as Partial<Served> | null;
    if (Array.isArray(found?.studies)) return found as Served;
  } catch {
    // A page of a proxy, which is no JSON.
  }
  return 'answers with something that is not from Keelson';
}

/** One GET. A certificate that is not trusted is noted, so that the other checks still run. */
export function ask(url: URL): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const heard = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(),
        dateMs: Date.parse(response.headers.date ?? ''), ...certificateOf(response),
      }));
    };
    const options = { timeout: timeoutMs, agent: false } as const;
    // Nothing secret is sent, and the response is only judged here.
    const asked = url.protocol === 'https:'
      ? requestTls(url, { ...options, rejectUnauthorized: false }, heard)
      : requestPlain(url, options, heard);
    asked.on('timeout', () => asked.destroy(new Error('it did not answer within 10 s')));
    asked.on('error', reject);
    asked.end();
  });
}

function certificateOf({ socket }: IncomingMessage): Pick<Answer, 'validToMs' | 'distrust'> {
  if (!('encrypted' in socket)) return {};
  const tls = socket as TLSSocket;
  // The type is Error, but it is the code of one, or an error.
  const cause = tls.authorizationError as Error | string | null;
  return {
    validToMs: Date.parse(tls.getPeerCertificate().valid_to),
    ...(!tls.authorized && { distrust: cause instanceof Error ? cause.message : String(cause) }),
  };
}
