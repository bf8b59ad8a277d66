import type { WireCode } from '../../src/base/error-codes.js';
import type { ServerFrame } from '../../src/wire/messages.js';
import type { TextFacts } from './refusal-texts.js';
import type { StrikeKind } from './strikes.js';

/** The subject of a Refusal. All fields are optional. */
export interface Subject {
  readonly channel?: number;
  readonly studyId?: Uint8Array;
  readonly publicKey?: Uint8Array;
  readonly facts?: TextFacts;
}

/** The session's socket, as the parts of the session use it. */
export interface SessionOutput {
  /** Nothing more will be sent. */
  readonly closed: boolean;
  send(frame: ServerFrame): void;
  refuse(code: WireCode, subject?: Subject): void;
  /**
   * Pauses reading for a moment. For requests that cost the server and are useless, but that an
   * honest client may also send.
   */
  rest(): void;
  /** Counts a fault of the other side. Too many close the socket. */
  strike(kind: StrikeKind): void;
  /** From now on the socket gets the events of the study; its present state is sent at once. */
  follow(studyId: string): void;
}
