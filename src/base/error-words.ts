import type { ErrorCode } from './error-codes.js';

/** The explanation of an error code on the reference page. */
export interface ErrorWords {
  /** Why it happens, in one or two sentences. */
  readonly cause: string;
  /** How to resolve it. */
  readonly remedy: string;
}

/** One entry for each code. Messages of errors say more: the value, the limit and the place. */
export const errorWords: Readonly<Record<ErrorCode, ErrorWords>> = {
  unspecified: {
    cause: 'An answer came without a code. No server of this version sends one.',
    remedy: 'Compare the versions of client and server.',
  },
  malformed: {
    cause: 'The bytes are not a message of the protocol.',
    remedy: 'Update the client, or compare it with the page of the protocol.',
  },
  'unknown-study': {
    cause: 'The server runs no study of this name or id. A study with changed facts has a new id.',
    remedy: 'Check the name with "keelson studies". A program takes the id from Welcome.',
  },
  'invalid-key': {
    cause: 'The public key is not a usable Ed25519 key: anybody could sign for it.',
    remedy: 'Make a new key with "keelson keys new".',
  },
  'key-not-allowed': {
    cause: 'The study admits a list of keys, and this key is not on it.',
    remedy: 'Ask the operator to add the key to the list.',
  },
  'bad-signature': {
    cause: 'The signature does not fit the key, the server, the study and the bytes.',
    remedy: 'Sign again with the key that Hello named. A few wrong signatures close the socket.',
  },
  'unknown-channel': {
    cause: 'No Ready gave this channel on this socket. It is harmless after a reconnect.',
    remedy: 'Send Hello, and use the channel from Ready.',
  },
  'wrong-columns': {
    cause: 'The rows do not have one number for each column of the study.',
    remedy: 'Send the columns that the study lists, in its order.',
  },
  'not-finite': {
    cause: 'A value is not a number, or is infinite.',
    remedy: 'Leave out or repair such rows, and send the rest as a new batch.',
  },
  'too-many-rows': {
    cause: 'A batch holds more rows than the server takes in one message.',
    remedy: 'Split the batch.',
  },
  'contribution-full': {
    cause: 'The person has sent all rows that an epoch takes: contribution.rowsMax, or a batch '
      + 'marked as the last.',
    remedy: 'Wait for the next epoch.',
  },
  mutated: {
    cause: 'The number of this batch was used before with other bytes. Two processes may share '
      + 'one key.',
    remedy: 'Send under the next free number. Let all processes of one key share one outbox.',
  },
  'stale-epoch': {
    cause: 'The epoch that the batch names is over, and the study drops late rows.',
    remedy: 'Sign the rows again for the open epoch.',
  },
  'epoch-not-open': {
    cause: 'No epoch takes the batch now.',
    remedy: 'Send the same bytes after the next Notice. The client does this automatically.',
  },
  'study-ended': {
    cause: 'The operator has ended the study.',
    remedy: 'Stop. Nothing more is accepted.',
  },
  'budget-exhausted': {
    cause: 'The privacy budget of the study is used up, so no further epoch opens.',
    remedy: 'Stop. The operator may start a new study with a budget of its own.',
  },
  'sequence-too-far': {
    cause: 'The number of the batch is too far ahead of those that are settled.',
    remedy: 'Settle the earlier batches first.',
  },
  'credit-exceeded': {
    cause: 'The client sent more batches than the server allows without an answer.',
    remedy: 'Wait for acknowledgements before sending more.',
  },
  overloaded: {
    cause: 'The server has more batches to store than it keeps up with, or the open epoch has no '
      + 'more room for groups that nobody listed. The message says which.',
    remedy: 'Send the same bytes again after a pause. The client does this automatically. The '
      + 'operator makes room for groups with a smaller groupsMax, or fewer bytes for the texts of '
      + 'by.',
  },
  'rate-limited': {
    cause: 'Too many requests came from one address. It may be a proxy that --trust-proxy '
      + 'does not name.',
    remedy: 'Slow down. An operator behind a proxy names it with --trust-proxy.',
  },
  'too-many-channels': {
    cause: 'A socket, an address or the server has as many channels as it may have.',
    remedy: 'Use another socket, or come back later.',
  },
  'contributor-budget-exhausted': {
    cause: 'The budget of this person does not pay for the epoch. The person is left out of it '
      + 'and not counted.',
    remedy: 'Wait for a later epoch where the budget renews, else stop.',
  },
  'shutting-down': {
    cause: 'The server is stopping, or is one of several that takes no batches (--roles).',
    remedy: 'Connect again. The client does this automatically, and may reach another server.',
  },
  unsupported: {
    cause: 'The request is not one that this version of the server serves, or one of the two sides '
      + 'has `encryptedOnly` and the other has no encrypted channels.',
    remedy: 'Use another version, or a way that lets WebSockets of keelson.v2 through.',
  },
  internal: {
    cause: 'The server failed to do this. Its log says why.',
    remedy: 'Send the same bytes again later.',
  },
  quarantined: {
    cause: 'Earlier rows of this key were farther from a published answer than the study allows.',
    remedy: 'Stop. The key stays excluded in this version of the study.',
  },
  'not-enrolled': {
    cause: 'The study takes a key only with an enrolment token of its issuer, and none came.',
    remedy: 'Ask the operator for a token, and give it with --enrolment.',
  },
  'enrolment-expired': {
    cause: 'The enrolment token of this key is no longer valid.',
    remedy: 'Ask the operator for a new token.',
  },
  'too-many-new-keys': {
    cause: 'The study has admitted as many new keys in this period as admission.rate allows.',
    remedy: 'Send the same bytes again after the time that the message names.',
  },
  'too-late': {
    cause: 'Rows were to be taken back from an epoch that has closed.',
    remedy: 'Nothing can be done: a release is never changed.',
  },
  'wrong-type': {
    cause: 'A value does not have the type of its column: it is beyond 2^64 in size, is not whole, '
      + 'or is no name of the category.',
    remedy: 'Leave out or repair such rows, and send the rest as a new batch.',
  },
  'bad-text': {
    cause: 'A text is not in the form that the study takes: too long, not in Unicode form NFC, '
      + 'with white space around it, or with a character that is not allowed.',
    remedy: 'Bring the text into the form, and send the rows as a new batch. The client does this.',
  },
  'not-counted': {
    cause: 'The batch came without a channel, and the open epoch takes nothing of its key: its '
      + 'contribution is complete or was withdrawn, its own budget is used up, or it is left out. '
      + 'Which one is told only on a channel, where the key proves itself.',
    remedy: 'Open a channel with the key to see why, or wait for the next epoch.',
  },
  'stale-share': {
    cause: 'A channel was opened with a key share of the server that is older than 10 minutes, and '
      + 'its secret is gone.',
    remedy: 'Connect again: Welcome shows the present share. The client does this.',
  },
  'invalid-parameter': {
    cause: 'A number or a choice is outside its range. The message names both.',
    remedy: 'Give a value within the range.',
  },
  'invalid-study': {
    cause: 'A study file breaks a rule or contradicts itself. The message names the line, the '
      + 'value and the rule.',
    remedy: 'Change the line. The page of the study file has the rule of every key.',
  },
  'invalid-input': {
    cause: 'A file cannot be read as what it should be.',
    remedy: 'Check the path and the place that the message names.',
  },
  'invalid-usage': {
    cause: 'The command line has an unknown flag, a missing value or flags that contradict each '
      + 'other.',
    remedy: 'Type what the message suggests, or add --help.',
  },
  invariant: {
    cause: 'There is a defect in Keelson. The server stops and does not go on with wrong state.',
    remedy: 'Report what the command prints with --debug.',
  },
  'budget-declined': {
    cause: 'The budget does not pay for the release. Nothing ran and nothing was charged.',
    remedy: 'Ask a smaller question, or wait where the budget renews.',
  },
  'plan-infeasible': {
    cause: 'No plan exists for the public numbers: too few people for so much privacy, for one.',
    remedy: 'Change a number as the message says. "keelson plan" tries numbers without data.',
  },
  'data-folder-in-use': {
    cause: 'Another process has the data folder.',
    remedy: 'Stop the other process, or use another folder.',
  },
  'data-folder-rolled-back': {
    cause: 'The database is older than the mark beside it, or is missing. An old copy may have '
      + 'been put back.',
    remedy: 'Restore the newest copy, or accept the loss with --accept-rollback.',
  },
  'lease-lost': {
    cause: 'Another server on the same PostgreSQL store leads the study now.',
    remedy: 'Nothing is to be done: the other server goes on. If it happens often, look why this '
      + 'server does not reach the database in time.',
  },
  'schema-too-new': {
    cause: 'A newer version of Keelson wrote the data folder, or brought the tables in PostgreSQL '
      + 'to a version that this one may not use.',
    remedy: 'Use that version, or a copy of the folder from before.',
  },
  'store-went-back': {
    cause: 'The PostgreSQL database lacks charges or releases that this server has seen. A standby '
      + 'that lagged took over, or an old backup was restored.',
    remedy: 'Give the address of the database that has everything. If it is lost, see '
      + 'docs/operating/postgres.md.',
  },
  'encryption-key-missing': {
    cause: 'Rows in the PostgreSQL database are encrypted under a key that is not in the folder of '
      + 'encryption keys of this server.',
    remedy: 'Give all servers of the store the same folder with --encryption-keys, or restore '
      + 'the file that the message names. If it is lost for ever, see keelson store give-up-rows.',
  },
  'storage-failed': {
    cause: 'The disk refused to write or read. What was acknowledged is safe.',
    remedy: 'Make room or repair the disk, and start again.',
  },
  'clock-implausible': {
    cause: 'The clock of the machine cannot be right, or the data folder has seen a clock that '
      + 'was not.',
    remedy: 'Set the clock, and confirm the time with --confirm-clock.',
  },
  'transport-failed': {
    cause: 'A connection could not be made, or was lost.',
    remedy: 'Check the address and that the server runs.',
  },
  'server-key-mismatch': {
    cause: 'The server proved another key than the one that is trusted. It is another server, or '
      + 'somebody is in between.',
    remedy: 'Ask the operator for the key, and do not send before it fits.',
  },
  'log-invalid': {
    cause: 'A log of releases does not verify: a signature, the chain or the signed head is wrong.',
    remedy: 'Fetch the log again. If it still fails, tell the operator what the message says.',
  },
  'outbox-failed': {
    cause: 'The file of unsent rows is in use, damaged or cannot be written.',
    remedy: 'Stop the other process, or name another file with --outbox.',
  },
  closed: {
    cause: 'A contributor, a subscription or a server was used after it was closed.',
    remedy: 'Make a new one.',
  },
};
