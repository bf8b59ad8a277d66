import type { WireCode } from '../../src/base/error-codes.js';
import type { ServerFrame } from '../../src/wire/messages.js';
import type { TextFacts } from './refusal-texts.js';
import type { StrikeKind } from './strikes.js';

/** What a Refusal is about; all optional. */
export interface Subject {
  readonly channel?: number;
  readonly studyId?: Uint8Array;
  readonly publicKey?: Uint8Array;
  readonly facts?: TextFacts;
}

/** What the parts of a session may do with its socket. */
export interface Voice {
  /** Nothing more will be sent. */
  readonly closed: boolean;
  send(frame: ServerFrame): void;
  refuse(code: WireCode, subject?: Subject): void;
  /** Reads no further for a moment: for what costs the server and helps nobody, and that an honest client may do too. */
  rest(): void;
  /** Counts a fault of the other side; too many close the socket. */
  strike(kind: StrikeKind): void;
  /** Hears of the study from now on, and at once how it stands. */
  follow(studyId: string): void;
}
