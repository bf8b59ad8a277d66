/** A value that is there at once on Node, and later in browsers. */
export type Soon<T> = T | Promise<T>;

/**
 * Keys and signatures. `#signing` is node.ts (node:crypto) on Node and browser.ts (tweetnacl)
 * elsewhere: both export `signing: Signing`. `#async-signing` is async-node.ts on Node and
 * web.ts (WebCrypto) elsewhere: both export `signing: AsyncSigning`. All make the same bytes.
 */
export interface Signer<Signature extends Soon<Uint8Array> = Uint8Array> {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64-byte Ed25519 signature. */
  sign(message: Uint8Array): Signature;
}

/** Checks the signatures of one key. */
export interface Verifier<Verdict extends Soon<boolean> = boolean> {
  readonly publicKey: Uint8Array;
  /** False for every invalid signature, of any length or form. */
  verify(message: Uint8Array, signature: Uint8Array): Verdict;
}

export type AsyncSigner = Signer<Soon<Uint8Array>>;
export type AsyncVerifier = Verifier<Soon<boolean>>;

/** Both directions of a contributor's channel. Frames are numbered by the caller, from 0. */
export interface ContributorCipher {
  /** The contents of an EncryptedBatch, under k_up. */
  seal(number: number, digest: Uint8Array, body: Uint8Array): Promise<Uint8Array>;
  /**
   * A frame of the server, under k_down; null if it was not sealed as this frame of this channel.
   */
  open(number: number, kind: 'opened' | 'ack', sealed: Uint8Array): Promise<Uint8Array | null>;
}

/** A fresh X25519 key (RFC 7748) for one agreement. */
export interface KeyAgreement {
  /** 32 bytes: what the other side needs. */
  readonly share: Uint8Array;
  /**
   * Call it once: the secret is gone then.
   * @returns 32 bytes that both sides compute; null for a share of small order, with which anybody
   *   could compute them.
   */
  agree(other: Uint8Array): Soon<Uint8Array | null>;
}

/** Ed25519 signatures, X25519 and SHA-512, by tweetnacl or by node:crypto. */
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
  /** As in `AsyncSigning`. */
  keyAgreement(): KeyAgreement;
}

/**
 * The signing of contributors. A page has it from WebCrypto, whose functions are asynchronous, and
 * loads tweetnacl only where WebCrypto lacks a curve. The server's functions stay synchronous.
 */
export interface AsyncSigning {
  /** As `Signing.generateSeed`. */
  generateSeed(): Uint8Array;
  /** @throws InvalidParameterError (at once) unless the seed has 32 bytes. */
  createSigner(seed: Uint8Array): Soon<AsyncSigner>;
  /** As `Signing.createVerifier`. */
  createVerifier(publicKey: Uint8Array): AsyncVerifier;
  /** 64 bytes. */
  sha512(bytes: Uint8Array): Soon<Uint8Array>;
  /**
   * 32 bytes. @throws KeelsonError('unsupported') on pages without a secure origin: a client checks
   * by it that a study's id is of its facts, so such a page opens no channel.
   */
  sha256(bytes: Uint8Array): Promise<Uint8Array>;
  randomBytes(length: number): Uint8Array;
  keyAgreement(): Soon<KeyAgreement>;
  /**
   * The contributor's side of an encrypted channel (channel-keys.ts).
   * @param agreed Z, 32 bytes. It is overwritten.
   * @param message M, 180 bytes.
   */
  contributorCipher(agreed: Uint8Array, message: Uint8Array): Promise<ContributorCipher>;
}

/**
 * The purpose of a signature. It is part of the signed bytes, so a signature cannot be replayed for
 * another purpose.
 */
export type SignatureLabel =
  'hello' | 'ready' | 'batch' | 'study' | 'release' | 'head' | 'enrol' | 'rotation' | 'withdraw'
  | 'sealed' | 'share' | 'open';
