/** The contributor, study and server of an outbox. Fixed when it is first used. */
export interface OutboxPin {
  /** 32 bytes: the server's key, trusted from the first use on. */
  readonly serverKey: Uint8Array;
  /** 32 bytes. */
  readonly studyId: Uint8Array;
  /** 32 bytes: the contributor's public key. */
  readonly contributor: Uint8Array;
}

/** One batch. Every retry sends the same body. */
export interface OutboxBatch {
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly body: Uint8Array;
  /** 64 bytes; empty if the batch was made for an encrypted channel. */
  readonly signature: Uint8Array;
}

/**
 * Rows that wait. They are unsigned while no epoch is known, and signed once they have been
 * offered.
 */
export interface OutboxItem {
  readonly id: number;
  readonly last: boolean;
  /** Row-major; null once signed. */
  readonly values: Float64Array | null;
  /** The texts that the numbers of text columns are indexes into. */
  readonly texts?: readonly string[];
  /** Columns per row, if they were given. */
  readonly columns?: number;
  /** Empty until signed. */
  readonly batches: readonly OutboxBatch[];
}

/** The contents of an outbox that an earlier run left. */
export interface OutboxContents {
  readonly pin: OutboxPin | null;
  /** Oldest first. */
  readonly items: readonly OutboxItem[];
  /** One more than the greatest sequence of all batches that were ever stored; 1n without any. */
  readonly nextSequence: bigint;
}

/**
 * A contributor's durable store, which ensures that nothing is lost and a retry sends the same
 * bytes. It has one writer, for one key and one study. `#outbox` resolves to node.ts (a file) on
 * Node and to browser.ts (IndexedDB) elsewhere; both export `openOutbox(location)` and
 * `openSeed(location)`. Every method rejects with KeelsonError('outbox-failed') when the medium
 * fails. The outbox must not be used after that.
 */
export interface Outbox {
  /** The contents that an earlier run left. Called once, before all other methods. */
  load(): Promise<OutboxContents>;
  /** Durable before it resolves. */
  pin(pin: OutboxPin): Promise<void>;
  /**
   * Stores unsigned rows. Durable before it resolves. The caller chooses the ids and uses each
   * once.
   * @param texts those that the numbers of text columns are indexes into.
   */
  keep(
    id: number, values: Float64Array, last: boolean, columns?: number, texts?: readonly string[],
  ): Promise<void>;
  /**
   * Stores the signed batches of an item, in place of its rows. They may be sent only after it has
   * resolved, because they and their sequences are durable then.
   */
  sign(id: number, last: boolean, batches: readonly OutboxBatch[]): Promise<void>;
  /**
   * Deletes an item that was settled. Need not be durable: a batch that is sent again is recognised
   * as a duplicate.
   */
  settle(id: number): void;
  /** Writes pending changes and closes the medium. */
  close(): Promise<void>;
}
