/** The server's half of a key agreement, as Welcome shows it. */
export interface KeyShare {
  /** 32 bytes: X25519. */
  readonly share: Uint8Array;
  readonly issuedMs: bigint;
  /** Open for it is refused from then on, in Unix milliseconds. */
  readonly untilMs: bigint;
  /** 64 bytes, label `share`, by the server. */
  readonly signature: Uint8Array;
}
