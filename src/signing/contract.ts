/**
 * Keys and signatures. `#signing` is node.ts (node:crypto) on Node and browser.ts (tweetnacl)
 * elsewhere. Both export `signing: Signing`, and both make the same bytes.
 */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64-byte Ed25519 signature. */
  sign(message: Uint8Array): Uint8Array;
}

/** Checks the signatures of one key. */
export interface Verifier {
  readonly publicKey: Uint8Array;
  /** False for every invalid signature, of any length or form. */
  verify(message: Uint8Array, signature: Uint8Array): boolean;
}

/** Both directions of a contributor's channel. Frames are numbered by the caller, from 0. */
export interface ContributorCipher {
  /** The contents of an EncryptedBatch, under k_up. */
  seal(number: number, digest: Uint8Array, body: Uint8Array): Promise<Uint8Array>;
  /**
   * A frame of the server, under k_down; null if it was not sealed as this frame of this channel.
   */
  open(number: number, kind: 'opened' | 'ack', sealed: Uint8Array): Promise<Uint8Array | null>;
}

/** Ed25519 signatures, X25519 and SHA-512, by tweetnacl or by the platform. */
export interface Signing {
  /** A fresh 32-byte seed from the system's generator. The seed is the secret key. */
  generateSeed(): Uint8Array;
  /** @throws InvalidParameterError unless the seed has 32 bytes. */
  createSigner(seed: Uint8Array): Signer;
  /** @throws WireError('invalid-key') for a key of wrong length, with y >= p, or of small order. */
  createVerifier(publicKey: Uint8Array): Verifier;
  /** 64 bytes. */
  sha512(bytes: Uint8Array): Uint8Array;
  /** 32 bytes. Asynchronous, because browsers have no synchronous form. */
  sha256(bytes: Uint8Array): Promise<Uint8Array>;
  randomBytes(length: number): Uint8Array;
  /**
   * X25519 of RFC 7748: 32 bytes, of a secret key and the other's public key, 32 bytes each. A
   * public key of small order gives 32 zero bytes; the caller decides what that means.
   */
  x25519(secretKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
  /**
   * The contributor's side of an encrypted channel (channel-keys.ts). Null where the platform has
   * no AES-GCM: pages without a secure origin.
   * @param agreed Z, 32 bytes. It is overwritten.
   * @param message M, 180 bytes.
   */
  readonly contributorCipher:
    ((agreed: Uint8Array, message: Uint8Array) => Promise<ContributorCipher>) | null;
}

/**
 * The purpose of a signature. It is part of the signed bytes, so a signature cannot be replayed for
 * another purpose.
 */
export type SignatureLabel =
  'hello' | 'ready' | 'batch' | 'study' | 'release' | 'head' | 'enrol' | 'rotation' | 'withdraw'
  | 'sealed' | 'share' | 'open';
