import { concatBytes, utf8 } from '../base/bytes.js';
import type { KeyShare } from '../base/key-share.js';
import type {
  AsyncSigning, AsyncVerifier, KeyAgreement, Signer, Signing,
} from './contract.js';
import { noStudy, signedMessage, type SignatureContext } from './message.js';

/*
 * The keys of an encrypted channel (subprotocol keelson.v2): docs/reference/protocol.md, section
 * 12, has the exchange, and docs/internals/channel-keys.md the claims and their proof.
 *
 * Z = X25519 of the own secret and the other's share, refused if it is 0. M is the message that the
 * contributor signs in Open: it names the server, the study, the contributor, the server's nonce
 * and both shares. Key schedule, with HMAC-SHA-256 in HKDF (RFC 5869):
 *
 *   PRK    = HKDF-Extract(salt = SHA-256(M), Z)
 *   k_up   = HKDF-Expand(PRK, "keelson v2 contributor", 32)
 *   k_down = HKDF-Expand(PRK, "keelson v2 server", 32)
 *
 * A frame is sealed with AES-256-GCM. Its nonce is 4 zero bytes and its number in its direction on
 * its channel, from 0, in 8 bytes; the nonce is not sent. Claim: no key meets a nonce twice. The
 * server nonce in M is fresh for each socket, and a socket takes a client share once, so two
 * channels have two M and two keys; within a direction the number only grows.
 */

/** Frames of the channel, as the one byte of additional data says it. */
export const frameKinds = { batch: 1, opened: 2, ack: 3 } as const;
export type FrameKind = keyof typeof frameKinds;

/** Bytes of a share, of its secret, and of what they agree on. */
export const shareBytes = 32;
/** The bytes that GCM adds to a frame. */
export const tagBytes = 16;
/** SHA-512 of the body, in front of the body in an EncryptedBatch. */
export const statedDigestBytes = 64;

/** The labels of the two keys, in the order of `k_up`, `k_down`. */
export const keyLabels: readonly Uint8Array[] =
  ['keelson v2 contributor', 'keelson v2 server'].map(utf8);

/** The inputs of M besides the context. */
export interface ChannelShares {
  /** 32 bytes, from Welcome. */
  readonly serverNonce: Uint8Array;
  /** 32 bytes: the server's share. */
  readonly share: Uint8Array;
  /** 32 bytes: the contributor's. */
  readonly clientShare: Uint8Array;
}

type Hashing = Pick<Signing, 'sha512'>;

/** The bytes that the server states of a share: 48. */
function statedBytes({ share, issuedMs, untilMs }: Omit<KeyShare, 'signature'>): Uint8Array {
  const times = new DataView(new ArrayBuffer(16));
  times.setBigUint64(0, issuedMs);
  times.setBigUint64(8, untilMs);
  return concatBytes(share, new Uint8Array(times.buffer));
}

/** @param digest SHA-512 of `statedBytes`. */
function shareMessage(serverKey: Uint8Array, digest: Uint8Array): Uint8Array {
  return signedMessage('share', { serverKey, studyId: noStudy }, null, digest);
}

/** The server states that it holds the secret of a share, and until when. */
export function signShare(
  server: Signer, share: Omit<KeyShare, 'signature'>, hashing: Hashing,
): Uint8Array {
  return server.sign(shareMessage(server.publicKey, hashing.sha512(statedBytes(share))));
}

export async function verifyShare(
  server: AsyncVerifier, share: KeyShare, hashing: Pick<AsyncSigning, 'sha512'>,
): Promise<boolean> {
  const digest = await hashing.sha512(statedBytes(share));
  return server.verify(shareMessage(server.publicKey, digest), share.signature);
}

/**
 * M: the 180 bytes that a contributor signs to open a channel, and that both keys depend on.
 * Its payload is SHA-512 of `sharesBytes`.
 */
export function openMessage(
  contributorKey: Uint8Array, context: SignatureContext, shares: ChannelShares, hashing: Hashing,
): Uint8Array {
  return signedMessage('open', context, contributorKey, hashing.sha512(sharesBytes(shares)));
}

/** The nonce and both shares, as M has them: 96 bytes. */
export function sharesBytes({ serverNonce, share, clientShare }: ChannelShares): Uint8Array {
  return concatBytes(serverNonce, share, clientShare);
}

/** X25519 of a secret and this point is the secret's share (RFC 7748). */
const basePoint = Uint8Array.of(9, ...new Uint8Array(31));

/** The key agreement of a platform with synchronous X25519. The secret is zeroed by `agree`. */
export function keyAgreement(
  { randomBytes, x25519 }: Pick<Signing, 'randomBytes' | 'x25519'>,
): KeyAgreement & { agree(other: Uint8Array): Uint8Array | null } {
  const secret = randomBytes(shareBytes);
  return {
    share: x25519(secret, basePoint),
    agree(other) {
      const agreed = x25519(secret, other);
      secret.fill(0);
      return agreed.some((byte) => byte !== 0) ? agreed : null;
    },
  };
}

/** Writes the nonce of a frame into 12 bytes. */
export function putNonce(nonce: Uint8Array, number: number): void {
  const view = new DataView(nonce.buffer, nonce.byteOffset);
  view.setUint32(4, Math.floor(number / 2 ** 32));
  view.setUint32(8, number % 2 ** 32);
}
