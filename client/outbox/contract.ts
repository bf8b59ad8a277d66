/** Whom an outbox belongs to and whom it talks to. Fixed when it is first used. */
export interface OutboxPin {
  /** 32 bytes: the server's key, trusted from the first use on. */
  readonly serverKey: Uint8Array;
  /** 32 bytes. */
  readonly studyId: Uint8Array;
  /** 32 bytes: the contributor's public key. */
  readonly contributor: Uint8Array;
}

/** One signed batch, byte for byte as it is sent, however often. */
export interface OutboxBatch {
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

/** Rows that wait: unsigned while no epoch is known, signed from the first offer on. */
export interface OutboxItem {
  readonly id: number;
  readonly last: boolean;
  /** Row-major; null once signed. */
  readonly values: Float64Array | null;
  /** Columns per row, when they were given. */
  readonly columns?: number;
  /** Empty until signed. */
  readonly batches: readonly OutboxBatch[];
}

/** What an earlier run left in an outbox. */
export interface OutboxContents {
  readonly pin: OutboxPin | null;
  /** Oldest first. */
  readonly items: readonly OutboxItem[];
}

/**
 * What a contributor must remember so that nothing is lost and a retry is the same bytes. One writer, for one key
 * and one study. `#outbox` resolves to node.ts (a file) on Node and to browser.ts (IndexedDB) elsewhere; both export
 * `openOutbox(location)` and `openSeed(location)`. Every method rejects with KeelsonError('outbox-failed') when the medium fails, and is
 * not used again after that.
 */
export interface Outbox {
  /** What an earlier run left. Called once, first. */
  load(): Promise<OutboxContents>;
  /** Durable before it resolves. */
  pin(pin: OutboxPin): Promise<void>;
  /** Keeps unsigned rows. Durable before it resolves. Ids are the caller's, each used once. */
  keep(id: number, values: Float64Array, last: boolean, columns?: number): Promise<void>;
  /**
   * Keeps the signed batches of an item, in place of its rows. Durable before it resolves: only then may they be sent.
   */
  sign(id: number, last: boolean, batches: readonly OutboxBatch[]): Promise<void>;
  /** Forgets an item that was settled. Need not be durable: what is sent again is recognised as a duplicate. */
  settle(id: number): void;
  /** Writes what is due and gives the medium back. */
  close(): Promise<void>;
}
