import { splitFrames } from '../../src/wire/index.js';

/** A server's answer to an upload. */
export interface Answer {
  readonly status: number;
  /** The nonce for the next request; empty where there is none. */
  readonly nonce: string;
  readonly body: Uint8Array;
}

/** Longest frame in an answer: as for a socket. */
const answerBytesMax = 64 * 1024 * 1024;

/**
 * Options of every request: it carries no cookies or other credentials, and a redirect is an error.
 */
export const plainRequest = { credentials: 'omit', redirect: 'error' } as const;

/**
 * Sends frames to `url`.
 * @param nonce of the server, in hexadecimal.
 * @param body null to begin: the answer is Welcome.
 */
export async function postFrames(
  url: string, nonce: string, body: Uint8Array | null, signal: AbortSignal,
): Promise<Answer> {
  const response = await fetch(url, {
    ...plainRequest, signal, method: 'POST',
    headers: {
      'Content-Type': 'application/x-protobuf', ...(body !== null && { 'Keelson-Nonce': nonce }),
    },
    // The copy has the plain ArrayBuffer that the type requires.
    body: body === null ? null : Uint8Array.from(body),
  });
  return {
    status: response.status, nonce: response.headers.get('Keelson-Nonce') ?? '',
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

/** The frames of an answer. @throws Error with the server's message, if the answer has none. */
export function framesOf({ status, nonce, body }: Answer): Uint8Array[] {
  if (status === 200 && nonce !== '') return splitFrames(body, answerBytesMax);
  throw refusal(status, new TextDecoder().decode(body));
}

/** An answer that is not what was asked for. @param text its body. */
export function refusal(status: number, text: string): Error {
  const said = /"text":"([^"]+)"/.exec(text)?.[1];
  return new Error(`HTTP status ${status}${said === undefined ? '' : `: ${said}`}`);
}

/**
 * One line for people. On Node the cause of a failed fetch is more informative than its message.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Error };
  return cause?.message || message;
}
