import { signing } from '#signing';
import { concatBytes, fromBase64, toHex, utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError, KeelsonError } from '../../src/base/errors.js';
import { periodOfKey, type TokenPeriod } from '../../src/base/token-periods.js';
import {
  blindEnrolment, modulusOf, tokenChallenge, tokenInput, tokenNonce,
} from '../../src/signing/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { plainRequest, reasonOf, refusal } from '../http/requests.js';
import { blindMessage } from './blind-rsa.js';

/** Options of a request for a blind token. */
export interface TokenOptions {
  /** The address of the issuer, like https://tokens.example.org. It learns the code. */
  readonly issuer: string;
  /** The person's code for this issuer. */
  readonly code: string;
  /** 32 bytes: the secret key that is to contribute. The issuer learns nothing of it. */
  readonly seed: Uint8Array;
  /** The verified facts of the study. */
  readonly study: Pick<StudyDocument, 'study' | 'admission'>;
  /** Aborting this signal ends the request. */
  readonly signal?: AbortSignal;
}

/** A blind token for one key, one study and one period. */
export interface BlindToken extends TokenPeriod {
  /** For `ContributorOptions.enrolment`: hexadecimal. It is of no use without the key. */
  readonly enrolment: string;
}

/** The key in force at an issuer, and where it signs. */
interface IssuerKey {
  readonly modulus: Uint8Array;
  readonly keyId: Uint8Array;
  readonly period: TokenPeriod;
  readonly requestUrl: URL;
}

/**
 * Gets the blind token of a key for a study and the present period: RFC 9578, token type 2. The
 * issuer learns who asks, but neither key nor study: see `blindMessage`. All randomness comes from
 * the seed. So a repeated call sends the same request and gets the same token, and nothing is lost
 * when an answer is. A person gets one token in a period: ask for the key that is to count. Cost:
 * two HTTP requests and 20 ms.
 * @throws InvalidParameterError for a study without blind tokens, a seed, an address or a code that
 *   can never work;
 *   KeelsonError('transport-failed') when the issuer cannot be reached now;
 *   KeelsonError('not-enrolled') when it refuses the code, or gave its token to another key;
 *   KeelsonError('invalid-input') when its answer is of no use.
 * @example
 * const contributor = createContributor({
 *   url, study: 'survey', seed,
 *   enrolment: async (study) =>
 *     (await requestToken({ issuer: 'https://tokens.example.org', code, seed, study })).enrolment,
 * });
 */
export async function requestToken(options: TokenOptions): Promise<BlindToken> {
  const { study: { study, admission }, seed, code } = options;
  if (admission.kind !== 'tokens') {
    throw new InvalidParameterError(`${study} does not admit by blind tokens: none is needed`);
  }
  if (!/^[\w.~+/-]+=*$/.test(code)) {
    throw new InvalidParameterError('a code has letters, digits and - . _ ~ + / only');
  }
  const { publicKey } = signing.createSigner(seed);
  const { modulus, keyId, period, requestUrl } = await keyInForce(options, admission);
  const digest = await signing.sha256(tokenChallenge(admission.issuer, study, signing));
  const secrets = secretsOf(seed, digest, keyId);
  const salt = secrets.slice(0, 32);
  const input = tokenInput(tokenNonce(salt, publicKey, signing), digest, keyId);
  const { blinded, finish } =
    await blindMessage(modulus, input, secrets.slice(32, 80), secrets.slice(80, 400));
  const answer = await ask(requestUrl, options.signal, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${code}`, 'Content-Type': 'application/private-token-request',
      Accept: 'application/private-token-response',
    },
    body: Uint8Array.from(concatBytes(Uint8Array.of(0, 2, keyId.at(-1)!), blinded)),
  });
  const signature = finish(new Uint8Array(await answer.arrayBuffer()));
  return { ...period, enrolment: toHex(blindEnrolment(input, signature, salt, modulus)) };
}

/** Asks the issuer's directory for the first key that is in the facts of the study. */
async function keyInForce(
  { issuer, signal }: TokenOptions,
  admission: Extract<StudyDocument['admission'], { readonly kind: 'tokens' }>,
): Promise<IssuerKey> {
  const base = issuerUrl(issuer);
  const response = await ask(
    new URL('/.well-known/private-token-issuer-directory', base.href), signal, {},
  );
  const directory = await response.json().catch(() => null) as Directory | null;
  const path = directory?.['issuer-request-uri'];
  if (typeof path === 'string') {
    for (const entry of directory?.['token-keys'] ?? []) {
      const modulus = entry['token-type'] === 2 ? modulusIn(entry['token-key']) : undefined;
      if (modulus === undefined) continue;
      const keyId = await signing.sha256(fromBase64Url(entry['token-key'] as string));
      const period = periodOfKey(admission, toHex(keyId));
      if (period === undefined) continue;
      return { modulus, keyId, period, requestUrl: sameOrigin(path, base) };
    }
  }
  throw new KeelsonError('invalid-input', `${base.origin} has no key that the study takes now: `
    + 'check the address of the issuer, or ask the operator for a new version of the study');
}

/** The fields of a directory in RFC 9578 that are read here. */
interface Directory {
  readonly 'issuer-request-uri'?: unknown;
  readonly 'token-keys'?: readonly {
    readonly 'token-type'?: unknown; readonly 'token-key'?: unknown;
  }[];
}

function modulusIn(tokenKey: unknown): Uint8Array | undefined {
  try {
    return typeof tokenKey === 'string' ? modulusOf(fromBase64Url(tokenKey)) : undefined;
  } catch {
    return undefined;
  }
}

/** base64url, with or without padding. */
function fromBase64Url(text: string): Uint8Array {
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
}

function issuerUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
  } catch {
    // The message below is for this too.
  }
  throw new InvalidParameterError(
    'the address of an issuer is a URL like https://tokens.example.org',
  );
}

/** The code goes only to the named issuer. */
function sameOrigin(path: string, base: URL): URL {
  const url = URL.canParse(path, base.href) ? new URL(path, base.href) : undefined;
  if (url?.origin === base.origin) return url;
  throw new KeelsonError('invalid-input', `${base.origin} asks for requests at another place: `
    + 'check the address of the issuer');
}

/** @throws KeelsonError for any answer but 200. */
async function ask(
  url: URL, signal: AbortSignal | undefined, request: RequestInit,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...plainRequest, ...request, signal: signal ?? null });
  } catch (cause) {
    throw new KeelsonError('transport-failed', `the issuer at ${url.origin} cannot be reached: `
      + `${reasonOf(cause)}`, { cause });
  }
  if (response.status === 200) return response;
  const cause = refusal(response.status, await response.text().catch(() => ''));
  const isForNow = response.status >= 500 || response.status === 429;
  throw new KeelsonError(isForNow ? 'transport-failed' : 'not-enrolled',
    `the issuer at ${url.origin} gave no token: ${cause.message}`, { cause });
}

/** 448 bytes that only the holder of the seed knows, for this key of the issuer and challenge. */
function secretsOf(seed: Uint8Array, challengeDigest: Uint8Array, keyId: Uint8Array): Uint8Array {
  const label = utf8('keelson token secrets');
  return concatBytes(...Array.from({ length: 7 }, (_, i) =>
    signing.sha512(concatBytes(label, seed, challengeDigest, keyId, Uint8Array.of(i)))));
}
