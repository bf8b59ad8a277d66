import { retryableWireCodes, type WireCode } from '../../src/base/error-codes.js';
import { valueMaxText } from '../../src/base/facts-limits.js';
import { encryptedSubprotocol } from '../../src/wire/index.js';
import type { Rejection } from '../../src/wire/messages.js';
import { durationText } from '../studies/release/guarantee.js';
import type { ListenerLimits } from '../network/options.js';

/** Public facts that a text may name. */
export interface TextFacts {
  readonly limits: ListenerLimits;
  /** Columns of the study concerned, if there is one. */
  readonly columns?: readonly string[];
  readonly rowsMax?: number;
  /** Set when the study limits the number of new keys that it accepts. */
  readonly newKeys?: { readonly contributorKeys: number; readonly perMs: number };
  /** With `rate-limited`: the allowed number of requests per second. Default: `helloPerSecond`. */
  readonly perSecond?: number;
  /** With `too-many-new-keys`: time until the next key is taken. */
  readonly retryInMs?: number;
  /**
   * The cause, where a code has several: for a cell of a batch its column, row and
   * rule. Never a value.
   */
  readonly fault?: string | undefined;
  /** With `overloaded`: the disk of the store is full, and the journal is not behind. */
  readonly lacksDisk?: true | undefined;
  /** With `overloaded`: the epoch has all its people; the journal is not behind. */
  readonly isFull?: true | undefined;
  /** The most people of an epoch. */
  readonly peopleMax?: number;
  /** With `shutting-down`: false for a server that takes no batches, and does not stop. */
  readonly takesBatches?: false;
}

/** The text of a server without the role `ingest`. */
export const takesNoBatches =
  'this server takes no batches: connect to another server of the study';

/** The text of a server with `encryptedOnly` for rows that come in another form. */
export const takesEncryptedOnly = 'this server takes rows on encrypted channels alone: use a '
  + `client that has them, over a WebSocket of ${encryptedSubprotocol}, on a way that does not `
  + 'hide it';

type Text = string | ((facts: TextFacts) => string);

/** The sentence for each code: the event, the limit, the remedy. It never contains row values. */
const texts: Readonly<Record<WireCode, Text>> = {
  unspecified: 'the request was refused',
  malformed: ({ fault }) =>
    fault ?? 'the message is not valid in this subprotocol: compare it with '
    + 'docs/reference/protocol.md',
  'unknown-study':
    'this server runs no study with that id: take the id from Welcome, the facts may have changed',
  'invalid-key': 'the public key is not a usable Ed25519 key: generate a fresh one',
  'key-not-allowed':
    'the key is not on the enrolment list of this study: ask the operator to enrol it',
  'bad-signature': ({ limits }) =>
    'the signature does not fit the key, this server, this study and these exact bytes, or an '
    + 'encrypted batch does not open: sign again, or connect again'
    + ` (${limits.badSignaturesPerSocket} of these close the socket)`,
  'unknown-channel': 'no such channel on this socket, or an encrypted one that has carried its '
    + 'most: send Hello or Open, and use the channel of the answer',
  'wrong-columns': ({ columns }) =>
    columns === undefined
      ? 'the rows do not have the columns of the study: send one number for each column'
      : `the study has ${columns.length} columns (${namesOf(columns)}): send one number for each, `
        + 'in this order',
  'not-finite': ({ fault = 'a value is NaN or infinite' }) =>
    `${fault}: leave such rows out, and send the rest with a new sequence`,
  'too-many-rows': ({ limits }) => `a batch holds at most ${limits.rowsPerBatch} rows: split it`,
  'contribution-full': ({ rowsMax }) =>
    rowsMax === undefined
      ? 'the contribution to this epoch is complete: wait for the next epoch'
      : `the contribution to this epoch is complete, or would pass ${rowsMax} rows: wait for the `
        + 'next epoch',
  mutated: 'the sequence was used before with other bytes: use the next free sequence',
  'stale-epoch': 'the epoch that the batch names is over: sign the rows again for the open epoch, '
    + 'with a new sequence',
  'epoch-not-open': 'no epoch takes the batch now: send the same bytes after the next Notice',
  'study-ended': 'the operator ended the study: nothing more is accepted',
  'budget-exhausted': 'the privacy budget of the study is used up: nothing more is accepted',
  'sequence-too-far': ({ limits }) =>
    `the sequence is more than ${limits.sequenceWindow} past the settled ones: settle the missing `
      + 'ones first',
  'credit-exceeded': ({ limits }) =>
    `more than ${limits.creditBatches} batches in flight on this channel: wait for acks`
    + ` (${limits.strayFramesPerSocket} such frames close the socket)`,
  overloaded: ({ lacksDisk, isFull, peopleMax }) => (lacksDisk === true
    ? 'the disk of the server is full: send the same bytes again later; the operator must free '
      + 'space on it (docs/operating/operations.md, "A full disk")'
    : isFull === true
    ? `the epoch has all the ${peopleMax === undefined ? '' : `${peopleMax} `}people that the study `
      + 'takes in one: send the same bytes in the next epoch'
    : 'the journal is behind: send the same bytes again in a moment'),
  'rate-limited': ({ limits, perSecond = limits.helloPerSecond }) =>
    `more than ${perSecond} requests per second from this address: slow down and try again`,
  'too-many-channels': ({ limits }) =>
    `a socket holds at most ${limits.channelsPerSocket} channels, an address `
    + `${limits.channelsPerAddress}, the server ${limits.channels}: open another socket, or come `
    + 'back later',
  'contributor-budget-exhausted':
    'your own privacy budget has no room for this epoch: you are left out of it, and not counted',
  'shutting-down': ({ takesBatches }) => (takesBatches === false
    ? takesNoBatches : 'the server is stopping: connect again later'),
  unsupported: ({ fault }) => fault ?? 'this server does not do that',
  internal: 'the server failed to do this: send the same bytes again later',
  quarantined: 'your earlier rows were farther from the published answer than this study allows: '
    + 'the key is left out',
  'not-enrolled': 'the study takes a key only with an enrolment token for it, signed by the issuer '
    + 'in the facts: ask the operator',
  'too-late': 'the epoch is over: what was not withdrawn before counts in its release, which is '
    + 'never changed',
  'wrong-type': ({ fault = 'a value does not have the type of its column' }) =>
    `${fault}: send numbers of at most ${valueMaxText} in size, whole ones for an integer, and for a `
    + 'category the place of one of its names; leave other rows out',
  'bad-text': ({ fault = 'a text is not in the form that the study takes' }) =>
    `${fault}: normalise it, or leave the row out`,
  'not-counted': 'the open epoch takes nothing of this key: wait for the next epoch, or open a '
    + 'channel to see why',
  'stale-share': 'the key share that this socket was shown is over: connect again, and open a '
    + 'channel with the share in Welcome',
  'enrolment-expired':
    'the enrolment token of this key has expired: ask the operator for a new one',
  'too-many-new-keys': ({ newKeys, retryInMs }) =>
    (newKeys === undefined ? 'the study takes no more new keys now'
      : `the study takes ${newKeys.contributorKeys} new keys in each ${durationText(newKeys.perMs)}, `
        + 'and has taken them')
    + ': send the same bytes again '
    + `${retryInMs === undefined ? 'later' : `in ${Math.max(1, Math.ceil(retryInMs / 1000))} s`}`,
};

/** The sentence that goes with a code. */
export function refusalText(code: WireCode, facts: TextFacts): string {
  const text = texts[code];
  return typeof text === 'string' ? text : text(facts);
}

/** The refusal of one sequence, as an Ack holds it. */
export function rejection(sequence: bigint, code: WireCode, facts: TextFacts): Rejection {
  return {
    sequence, code, retryable: retryableWireCodes.has(code), text: refusalText(code, facts),
  };
}

/** The first few names. A study may have a thousand columns, and a text must stay short. */
function namesOf(columns: readonly string[]): string {
  const shown = columns.slice(0, 8).join(', ');
  return columns.length > 8 ? `${shown}, ...` : shown;
}
