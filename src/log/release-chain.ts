import { equalBytes, fromHex, toHex } from '../base/bytes.js';
import { canonicalJson } from '../base/canonical-json.js';
import { WireError } from '../base/errors.js';
import { verifyStatement } from '../signing/message.js';
import type { Signing, Verifier } from '../signing/contract.js';
import { signatureBytes } from '../wire/fields.js';
import { decodeHeadBody } from '../wire/head-body.js';
import type { Answer, HeadBody, ReleaseBody, SignedHead, SignedRelease } from '../wire/messages.js';
import { decodeReleaseBody } from '../wire/release-body.js';
import type { StudyDocument } from '../wire/study-document.js';
import { checkAnswers } from './answers.js';
import { checkDescriptions } from './descriptions.js';
import { LogError } from './faults.js';

/** A position in a chain: what the next release must continue. */
export interface ChainPosition {
  /** Index of the next release. */
  readonly index: bigint;
  /**
   * SHA-512 of the last release's body; 64 zero bytes before the first release; null if unknown.
   */
  readonly digest: Uint8Array | null;
  /** Epoch of the last release; null before the first. */
  readonly epoch: bigint | null;
}

/** The position before a study's first release. */
export const chainStart: ChainPosition = { index: 0n, digest: new Uint8Array(64), epoch: null };

export interface ChainOptions {
  /** Verifies with the server's present key; from `signing.createVerifier`. */
  readonly server: Verifier;
  /** Verify with its earlier keys, oldest first; from `keyChain`. Default: none. */
  readonly earlier?: readonly Verifier[];
  readonly signing: Pick<Signing, 'sha512' | 'createVerifier'>;
  /** 32 bytes. */
  readonly studyId: Uint8Array;
  /**
   * If given, releases must repeat these facts. Needed for a sealed study: its facts name the three
   * servers that sign.
   */
  readonly document?: StudyDocument;
  /**
   * Default: `chainStart`. With a null digest, the first link is trusted and later links are
   * checked.
   */
  readonly from?: ChainPosition;
}

/**
 * Verifies releases one by one, as they arrive: the signature over the received bytes, server,
 * study, index without gaps, increasing epochs, and the digest of the release before.
 * The server's key may change. A release may then be signed by any of its keys, but never by an
 * older key than the release before: the server no longer signs with an old key. Heads are signed
 * with the newest key.
 * A release that fails does not change the position.
 */
export class ReleaseChain {
  private at: ChainPosition;
  /** Oldest first. Keys before the key of the last release are removed. */
  private keys: readonly Verifier[];
  /** The three servers of a sealed study; else null. All sign releases; one signs the head. */
  private readonly sealedBy: readonly Verifier[] | null;

  constructor(private readonly options: ChainOptions) {
    this.at = options.from ?? chainStart;
    this.sealedBy = options.document?.sealed?.servers
      .map(({ key }) => options.signing.createVerifier(fromHex(key))) ?? null;
    this.keys = [...(options.earlier ?? []), options.server];
  }

  get position(): ChainPosition {
    return this.at;
  }

  /**
   * The server's key has changed.
   * @param keys all of the server's keys, from `keyChain`. The key of the last release is one of
   *   them.
   */
  follow(keys: readonly Verifier[]): void {
    const [oldest] = this.keys as [Verifier];
    const from = keys.findIndex((key) => equalBytes(key.publicKey, oldest.publicKey));
    if (from >= 0) this.keys = keys.slice(from);
  }

  /**
   * Verifies the next release and returns its body.
   * @throws LogError with the broken rule; details hold the expected index and the one found.
   */
  accept(release: Pick<SignedRelease, 'body' | 'signature'>): ReleaseBody {
    const expected = this.at.index;
    const { digest, keys } = this.sealedBy === null
      ? this.verified('release', release, this.keys) : this.verifiedBySealed(release);
    const body = readBody(() => decodeReleaseBody(release.body), 'release', expected);
    this.checkOrigin(body, this.sealedBy?.[0] ?? keys[0]!, expected);
    this.checkEpochOnce(body, digest, expected);
    if (body.index !== expected) {
      throw new LogError(
        'index-mismatch', `release ${body.index} stands where release ${expected} belongs`, {
          expected,
          found: body.index,
        },
      );
    }
    if (this.at.digest !== null && !equalBytes(body.previousDigest, this.at.digest)) {
      throw new LogError(
        'digest-mismatch', `release ${expected} does not continue the one before it`, { expected },
      );
    }
    if (this.at.epoch !== null && body.epoch <= this.at.epoch) {
      throw new LogError(
        'epoch-order', `release ${expected} is of epoch ${body.epoch}, not after ${this.at.epoch}`,
        {
          expected,
        },
      );
    }
    this.checkFacts(body, expected);
    this.at = { index: expected + 1n, digest, epoch: body.epoch };
    this.keys = keys;
    return body;
  }

  /**
   * A second release of the newest epoch is named as that, wherever it stands in a log: both are
   * signed, and both tell of the same rows.
   */
  private checkEpochOnce(body: ReleaseBody, digest: Uint8Array, expected: bigint): void {
    const { epoch, digest: newest } = this.at;
    if (epoch === null || newest === null || body.epoch !== epoch) return;
    if (equalBytes(digest, newest)) return;
    throw new LogError(
      'epoch-order', `epoch ${epoch} has two releases, both signed: an older copy of the server's `
        + 'data was served again, so its ledger lacks what one of them cost', { expected },
    );
  }

  /**
   * Checks that the log ends at the position of this chain.
   * @throws LogError('head-mismatch') if it does not: releases are missing or were replaced.
   */
  checkHead(head: Pick<SignedHead, 'body' | 'signature'>): HeadBody {
    const { index, digest } = this.at;
    const newest = this.keys.slice(-1);
    this.verified('head', head, newest);
    const body = readBody(() => decodeHeadBody(head.body), 'head', index);
    this.checkOrigin(body, newest[0]!, index);
    if (body.count !== index) {
      throw new LogError(
        'head-mismatch', `the head counts ${body.count} releases, but ${index} are here`, {
          expected: body.count,
          found: index,
        },
      );
    }
    if (digest !== null && !equalBytes(body.digest, digest)) {
      throw new LogError(
        'head-mismatch', `the head is of another release ${index - 1n}, so the server has signed `
          + 'two: an older copy of its data was served again', { expected: index },
      );
    }
    return body;
  }

  /**
   * Returns the digest of the body if one of the keys signed it, with that key and all later keys.
   */
  private verified(
    label: 'release' | 'head', signed: Pick<SignedRelease, 'body' | 'signature'>,
    keys: readonly Verifier[],
  ): { readonly digest: Uint8Array; readonly keys: readonly Verifier[] } {
    const { studyId, signing } = this.options;
    const digest = signing.sha512(signed.body);
    const signedBy =
      keys.findIndex((key) => verifyStatement(label, key, studyId, digest, signed.signature));
    if (signedBy < 0) {
      const what = label === 'head' ? 'the head' : `release ${this.at.index}`;
      const text = `the signature of ${what} is not the server's, for this study and these bytes`;
      throw new LogError('signature-invalid', text, { expected: this.at.index });
    }
    return { digest, keys: keys.slice(signedBy) };
  }

  /** All three servers in the facts of a sealed study signed the same bytes. */
  private verifiedBySealed(
    { body, signature }: Pick<SignedRelease, 'body' | 'signature'>,
  ): { readonly digest: Uint8Array; readonly keys: readonly Verifier[] } {
    const { studyId, signing } = this.options;
    const digest = signing.sha512(body);
    const servers = this.sealedBy!;
    const missing = servers.findIndex((server, i) => !verifyStatement(
      'release', server, studyId, digest,
      signature.subarray(i * signatureBytes, (i + 1) * signatureBytes),
    ));
    if (missing < 0 && signature.length === servers.length * signatureBytes) {
      return { digest, keys: this.keys };
    }
    const { name } = this.options.document!.sealed!.servers[Math.max(0, missing)]!;
    const isWhole = signature.length === servers.length * signatureBytes;
    const what = isWhole
      ? `the signature of ${name} is not its own, for this study and these bytes`
      : `it has ${signature.length} bytes of signatures, not ${servers.length * signatureBytes}`;
    throw new LogError(
      'signature-invalid', `release ${this.at.index} does not have the signatures of all three `
        + `servers of the sealed study: ${what}`, { expected: this.at.index },
    );
  }

  private checkOrigin(
    body: Pick<ReleaseBody, 'serverKey' | 'studyId'>, key: Verifier, expected: bigint,
  ): void {
    if (!equalBytes(body.serverKey, key.publicKey)) {
      throw new LogError(
        'other-server', `the body names the server key ${toHex(body.serverKey)}`, { expected },
      );
    }
    if (!equalBytes(body.studyId, this.options.studyId)) {
      throw new LogError(
        'other-study', `the body names the study ${toHex(body.studyId)}`, { expected },
      );
    }
  }

  private checkFacts(body: ReleaseBody, expected: bigint): void {
    const { document } = this.options;
    if (document === undefined) return;
    const isShort = document.wireForm === 'short';
    const { estimator, parameters } = document.questions[0]!;
    const [answer] = body.answers as [Answer];
    const columnsAgree =
      body.columns.length === document.columns.length
        && body.columns.every((name, i) => name === document.columns[i]);
    for (const [name, agrees] of [
      ['study', body.study === document.study],
      ['form', body.wireForm === document.wireForm],
      ['estimator', !isShort || answer.estimator === estimator],
      ['parameters', !isShort || answer.parameters === canonicalJson(parameters)],
      ['participation', body.participation === document.participation],
      ['cohort', body.cohort === BigInt(document.cohort)],
      ['columns', columnsAgree],
    ] as const) {
      if (agrees) continue;
      throw new LogError(
        'facts-mismatch', `release ${expected} states another ${name} than the study`, { expected },
      );
    }
    if (!isShort) checkAnswers(document, body);
    checkDescriptions(document, body);
  }
}

function readBody<T>(read: () => T, what: string, expected: bigint): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new LogError(
      'body-malformed', `the ${what} at ${expected} is signed but not readable`, { expected },
      cause,
    );
  }
}
