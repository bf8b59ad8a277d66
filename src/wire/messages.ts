import type { BudgetRuleName } from '../base/budget-rules.js';
import type { WireCode } from '../base/error-codes.js';
import type { Outcome } from '../base/outcome.js';
import type { KeyShare } from '../base/key-share.js';
import { onlyQuestion } from '../base/questions.js';

/**
 * The wire messages as Keelson's code sees them: 64-bit fields are bigint, enums are names, and
 * oneofs are unions on `kind`. The `*-frames.ts` and `*-body.ts` files convert them.
 * proto/keelson/v1/wire.proto documents each field.
 */
export interface Hello {
  readonly kind: 'hello';
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly clientNonce: Uint8Array;
  readonly signature: Uint8Array;
  /** A token for the key, if the study admits by enrolment. */
  readonly enrolment?: Uint8Array | undefined;
}

export interface SignedBatch {
  readonly kind: 'batch';
  readonly channel: number;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

/** One batch of a person who opens no channel: the body of POST /v1/once. */
export interface Once {
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
  /** As in Hello. */
  readonly enrolment?: Uint8Array | undefined;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

export interface Withdraw {
  readonly kind: 'withdraw';
  readonly channel: number;
  readonly epoch: bigint;
  readonly signature: Uint8Array;
}

export interface Subscribe {
  readonly kind: 'subscribe';
  readonly studyId: Uint8Array;
  readonly fromRelease: bigint;
}

export interface Unsubscribe {
  readonly kind: 'unsubscribe';
  readonly studyId: Uint8Array;
}

/** Opens an encrypted channel. Only on a socket whose Welcome has a share. */
export interface Open {
  readonly kind: 'open';
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly clientShare: Uint8Array;
  readonly signature: Uint8Array;
  /** As in Hello. */
  readonly enrolment?: Uint8Array | undefined;
}

/** A batch on an encrypted channel: SHA-512 of the body, then the body, sealed. */
export interface EncryptedBatch {
  readonly kind: 'encrypted-batch';
  readonly channel: number;
  readonly encrypted: Uint8Array;
}

export type ClientFrame =
  Hello | Open | SignedBatch | EncryptedBatch | Subscribe | Unsubscribe | Withdraw;

/** The rows that a contributor signs and sends in one message. */
export interface BatchBody {
  readonly studyId: Uint8Array;
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly last: boolean;
  readonly rows: number;
  readonly columns: number;
  readonly dataType: 'float32' | 'float64';
  /** Little-endian, row-major, rows * columns numbers. Empty where there are cells. */
  readonly data: Uint8Array;
  /** Only for studies with typed columns: one for each column, in order. */
  readonly cells?: readonly Cells[];
}

/** The values of one typed column of a batch, one for each row that has one. */
export interface Cells {
  /** For an optional column: a bit for each row. Empty or absent: every row has a value. */
  readonly present?: Uint8Array;
  /** For a number or integer: little-endian numbers of the batch's data type. Else empty. */
  readonly numbers: Uint8Array;
  /** For a boolean, category or text. Else empty. */
  readonly codes: Uint8Array;
  /** For a text: its entries, each after a byte with its length. Else empty or absent. */
  readonly dictionary?: Uint8Array;
}

/** A study accepts rows while it is open. */
export type WireStudyState = 'open' | 'exhausted' | 'ended';

export interface WireLimits {
  readonly frameBytes: number;
  readonly rowsPerBatch: number;
  readonly creditBatches: number;
  readonly channelsPerSocket: number;
  readonly sequenceWindow: number;
}

export interface SignedStudy {
  readonly facts: Uint8Array;
  readonly signature: Uint8Array;
  readonly state: WireStudyState;
  readonly epoch: bigint;
}

export interface Welcome {
  readonly kind: 'welcome';
  readonly serverKey: Uint8Array;
  readonly serverNonce: Uint8Array;
  readonly limits: WireLimits;
  readonly studies: readonly SignedStudy[];
  /** 192 bytes each, oldest first. */
  readonly rotations: readonly Uint8Array[];
  /** On a socket of `keelson.v2`. */
  readonly share?: KeyShare;
}

/** The server's answer to Open: a Ready without its signature, sealed. */
export interface Opened {
  readonly kind: 'opened';
  readonly channel: number;
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly encrypted: Uint8Array;
}

/** A sealed Ack. */
export interface EncryptedAck {
  readonly kind: 'encrypted-ack';
  readonly channel: number;
  readonly encrypted: Uint8Array;
}

/** How much of its own budget a contributor has spent. */
export interface Spend {
  readonly rho: number;
  readonly rhoCap: number;
  readonly delta: number;
  readonly deltaCap: number;
}

/** The server's answer to Hello: section 4 of docs/reference/protocol.md. */
export interface Ready {
  readonly kind: 'ready';
  readonly channel: number;
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
  readonly epoch: bigint;
  readonly nextSequence: bigint;
  readonly holes: readonly bigint[];
  readonly credit: number;
  readonly ownSpend: Spend | null;
  /** For a sealed study with an open epoch: each server's box key and signature, 96 bytes. */
  readonly boxKeys?: readonly Uint8Array[];
}

export interface Rejection {
  readonly sequence: bigint;
  readonly code: WireCode;
  readonly retryable: boolean;
  readonly text: string;
}

export interface Ack {
  readonly kind: 'ack';
  readonly channel: number;
  /** Sequences of accepted batches. They may have been accepted now or as an earlier copy. */
  readonly accepted: readonly bigint[];
  readonly rejections: readonly Rejection[];
  readonly epoch: bigint;
  readonly credit: number;
  /** Under contributor scope, in the ack of the first row of an epoch. */
  readonly ownSpend?: Spend;
  /** The answer to Withdraw: no row of the contributor counts in this epoch. */
  readonly withdrawn?: bigint;
}

/** The state of a study, and when its open epoch closes. */
export interface Notice {
  readonly kind: 'notice';
  readonly studyId: Uint8Array;
  readonly state: WireStudyState;
  readonly epoch: bigint;
  readonly closesInMs: bigint;
  /** As in Ready. */
  readonly boxKeys?: readonly Uint8Array[];
}

export interface Refusal {
  readonly kind: 'refusal';
  readonly code: WireCode;
  readonly retryable: boolean;
  readonly text: string;
  readonly channel: number;
  /** Empty if the refusal concerns no study (or no key). */
  readonly studyId: Uint8Array;
  readonly publicKey: Uint8Array;
}

/**
 * A signed release: its bytes and the server's signature. Of a sealed study the signatures of all
 * three servers, one behind the other.
 */
export interface SignedRelease {
  readonly kind: 'release';
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

/** How many releases a study has, signed by the server. */
export interface SignedHead {
  readonly kind: 'head';
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

export type ServerFrame =
  | Welcome | Ready | Opened | Ack | EncryptedAck | SignedRelease | SignedHead | Notice | Refusal;

/** The charge of a release. */
export interface ReleaseCost {
  readonly epsilon: number;
  readonly delta: number;
  /** Units of 2^-64. */
  readonly rhoAmount: bigint;
  readonly deltaAmount: bigint;
}

/** How much of the budget was spent when the release was charged. */
export interface LedgerPosition {
  readonly scope: 'study' | 'contributor' | 'population';
  readonly rule: BudgetRuleName;
  readonly rhoSpent: bigint;
  readonly rhoCap: bigint;
  readonly deltaSpent: bigint;
  readonly deltaCap: bigint;
  readonly epsilonSpent: number;
  readonly epsilonCap: number;
  /** Set if the budget renews: a charge counts for this many milliseconds. */
  readonly windowMs?: bigint;
}

/** The answer of a release to one question. */
export interface Answer {
  /** The question's name. */
  readonly question: string;
  readonly estimator: string;
  /** Canonical JSON. */
  readonly parameters: string;
  readonly outcome: Outcome;
  /** The charge for it, in units of 2^-64. */
  readonly rhoAmount: bigint;
  readonly deltaAmount: bigint;
}

/** One signed release of a study's log. */
export interface ReleaseBody extends ReleaseFacts {
  /** One for each question of the study, in the study's order. */
  readonly answers: readonly Answer[];
  /** As in the facts of its study: the bytes state one answer without a list. */
  readonly wireForm?: 'short';
}

/** The answer of a release that has no list of answers. */
export interface ShortAnswer {
  readonly estimator: string;
  /** Canonical JSON. */
  readonly parameters: string;
  readonly outcome: Outcome;
}

/** The release of a study whose facts list no questions: all of its cost is its one answer's. */
export function ofShortAnswer(
  { estimator, parameters, outcome, ...facts }: ReleaseFacts & ShortAnswer,
): ReleaseBody {
  const { rhoAmount, deltaAmount } = facts.cost;
  return {
    ...facts, wireForm: 'short',
    answers: [{
      question: onlyQuestion, estimator, parameters, outcome, rhoAmount, deltaAmount,
    }],
  };
}

/** The facts that every release states. */
export interface ReleaseFacts {
  readonly serverKey: Uint8Array;
  readonly studyId: Uint8Array;
  readonly index: bigint;
  readonly epoch: bigint;
  readonly study: string;
  readonly participation: 'secret' | 'public';
  readonly cost: ReleaseCost;
  readonly ledger: LedgerPosition;
  readonly previousDigest: Uint8Array;
  readonly mechanisms: string;
  readonly closedAtMs: bigint;
  readonly columns: readonly string[];
  readonly cohort: bigint;
  /** The promise of the ledger's cap, in words. Older servers leave it out. */
  readonly guarantee?: string;
}

/** The state of a study that the server signs: how long its log is, and its last digest. */
export interface HeadBody {
  readonly serverKey: Uint8Array;
  readonly studyId: Uint8Array;
  readonly count: bigint;
  readonly digest: Uint8Array;
  readonly state: WireStudyState;
}
