import { equalBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { InvalidParameterError, KeelsonError, WireError } from '../../src/base/errors.js';
import type { KeyShare } from '../../src/base/key-share.js';
import {
  keyChainSoon, verifyShare, verifyStatement, type AsyncVerifier,
} from '../../src/signing/index.js';
import {
  decodeContributorFacts, studyId as idOfFacts, type StudyDocument, type Welcome, type WireLimits,
  type WireStudyState,
} from '../../src/wire/index.js';
import { signing } from '../base/signing.js';

/** A study whose facts carry the server's signature. */
export interface VerifiedStudy {
  /** 32 bytes: SHA-256 of the facts. */
  readonly studyId: Uint8Array;
  readonly studyIdHex: string;
  readonly document: StudyDocument;
  /** State of the study when the socket opened; not signed. */
  readonly state: WireStudyState;
  /** The epoch that was open then; 0n when none. */
  readonly epoch: bigint;
}

/** Reads the facts of a study. @throws if it cannot. */
export type ReadFacts = (facts: Uint8Array) => StudyDocument;

/**
 * A Welcome from the expected server. Ready or a release proves later that the server holds its
 * key.
 */
export interface VerifiedWelcome {
  readonly server: AsyncVerifier;
  /** All keys that the server had, oldest first; the last one is `server`. */
  readonly keys: readonly AsyncVerifier[];
  /** 32 bytes. */
  readonly serverNonce: Uint8Array;
  /** The server's half of the key agreement; null where the socket has no encrypted channels. */
  readonly share: KeyShare | null;
  readonly limits: WireLimits;
  readonly studies: readonly VerifiedStudy[];
  /** Number of studies left out, because only a newer client can read their facts. */
  readonly unread: number;
}

/**
 * Facts whose signatures were verified, as key, id and signature. Every Welcome has all studies,
 * and a page opens a socket for each study that it follows. Without this set, the number of checks
 * would be the square of the number of studies.
 */
const signedBefore = new Set<string>();
const signedBeforeMax = 1024;

/** A share is trusted for this long after its time by this machine's clock, which may be wrong. */
const shareGraceMs = 24 * 3_600_000;

/**
 * The share of a Welcome. Null if it is too old by this machine's clock, since a stolen secret
 * could otherwise be used for ever. The channel is then opened with Hello, as where there is none.
 */
async function shareIn(
  { share }: Welcome, server: AsyncVerifier, unixMs: number,
): Promise<KeyShare | null> {
  if (share === undefined) return null;
  if (!await verifyShare(server, share, signing)) {
    throw new WireError('bad-signature', 'the key share is not signed by the server');
  }
  return unixMs > Number(share.untilMs) + shareGraceMs ? null : share;
}

/**
 * The id is the SHA-256 of the facts. So the same three values mean the same facts, and the result
 * is the same.
 */
async function isSigned(
  server: AsyncVerifier, studyId: Uint8Array, facts: Uint8Array, signature: Uint8Array,
): Promise<boolean> {
  const name = [server.publicKey, studyId, signature].map(toHex).join();
  if (signedBefore.has(name)) return true;
  const digest = await signing.sha512(facts);
  if (!await verifyStatement('study', server, studyId, digest, signature)) return false;
  if (signedBefore.size >= signedBeforeMax) signedBefore.clear();
  signedBefore.add(name);
  return true;
}

/**
 * Null for facts that only a later version can read. The server's other studies are not affected.
 */
function documentIn(facts: Uint8Array, readFacts: ReadFacts): StudyDocument | null {
  try {
    return readFacts(facts);
  } catch {
    return null;
  }
}

/**
 * Verifies a Welcome. A server that changed its key shows a record of each change, signed by both
 * keys. A client that trusts one of its keys follows the records. Studies whose signed facts this
 * version cannot read are left out.
 * @param pinned the keys that this client trusts. Empty: the offered key is accepted.
 * @param unixMs the time by this machine's clock.
 * @param readFacts default: all facts but the questions, which a contributor need not understand.
 * @throws KeelsonError('server-key-mismatch') for another server; WireError('bad-signature' |
 *   'malformed' |
 * 'invalid-key') for a Welcome that no honest server sends.
 */
export async function verifyWelcome(
  welcome: Welcome, pinned: readonly Uint8Array[], unixMs: number,
  readFacts: ReadFacts = decodeContributorFacts,
): Promise<VerifiedWelcome> {
  const keys = await keyChainSoon(welcome.rotations, welcome.serverKey, signing);
  const missing = pinned.find((pin) => !keys.some((key) => equalBytes(key.publicKey, pin)));
  if (missing !== undefined) {
    const details = { expected: toHex(missing), found: toHex(welcome.serverKey) };
    throw new KeelsonError(
      'server-key-mismatch',
      `this server's key is ${details.found}, not the pinned ${details.expected}: check the `
        + 'address, and ask the operator before you trust a new key',
      { details },
    );
  }
  const server = keys.at(-1)!;
  const share = await shareIn(welcome, server, unixMs);
  const studies = await Promise.all(
    welcome.studies.map(async (study) => {
      const studyIdHex = await idOfFacts(study.facts, signing);
      const studyId = fromHex(studyIdHex);
      if (!await isSigned(server, studyId, study.facts, study.signature)) {
        throw new WireError(
          'bad-signature', `the facts of study ${studyIdHex} are not signed by the server`,
        );
      }
      const document = documentIn(study.facts, readFacts);
      return document === null
        ? [] : [{ studyId, studyIdHex, document, state: study.state, epoch: study.epoch }];
    }),
  );
  const readable = studies.flat();
  return {
    server, keys, serverNonce: welcome.serverNonce, share, limits: welcome.limits,
    studies: readable, unread: studies.length - readable.length,
  };
}

/**
 * The study with this name or id (64 hexadecimal digits).
 * @throws WireError('unknown-study') naming the studies of the server, also in `details.studies`.
 */
export function findStudy(welcome: VerifiedWelcome, study: string): VerifiedStudy {
  const wanted = study.toLowerCase();
  const found =
    welcome.studies.find((candidate) => candidate.studyIdHex === wanted) ??
    welcome.studies.find((candidate) => candidate.document.study === study);
  if (found !== undefined) return found;
  const studies = welcome.studies.map((candidate) => candidate.document.study);
  const names = studies.join(', ') || 'none';
  const more = welcome.unread === 0
    ? '' : `, and ${welcome.unread} that only a newer client can read`;
  const text = `the server has no study ${study}; it has: ${names}${more}`;
  throw new WireError('unknown-study', text, { details: { study, studies } });
}

/**
 * The study of a channel. It stays on the version that it first selected, while the server has that
 * version. The first selection is the newest.
 * @param before id of the version that it selected; null at first.
 * @throws WireError('unknown-study') if the server has none, or no more this one.
 */
export function chooseStudy(
  welcome: VerifiedWelcome, wanted: string, before: Uint8Array | null,
): VerifiedStudy {
  const found = findStudy(welcome, wanted);
  for (const study of [found, ...welcome.studies]) {
    if ((study === found || study.document.study === wanted)
        && equalBytes(before ?? found.studyId, study.studyId)) return study;
  }
  throw new WireError(
    'unknown-study',
    `the facts of ${found.document.study} have changed: read them, begin anew`,
    { details: { study: found.studyIdHex } },
  );
}

/** A copy of a caller's 32-byte key. @throws InvalidParameterError when it has another length. */
export function checkedKey(key: Uint8Array, name: string): Uint8Array {
  if (key.length !== 32) throw new InvalidParameterError(`${name} has ${key.length} bytes, not 32`);
  return Uint8Array.from(key);
}
