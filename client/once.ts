/**
 * The part of `keelson/client` for people who send once. Each batch goes in a request of its own,
 * which costs the server .5 to .6 of what a connection costs (`npm run bench:people`), and the page
 * loads no code for sockets.
 *
 * @module keelson/client/once
 * @example
 * import { createOnceContributor, openOutbox, openSeed } from 'keelson/client/once';
 *
 * const [seed, outbox] = await Promise.all([openSeed('survey'), openOutbox('survey')]);
 * const contributor = createOnceContributor({
 *   url: 'wss://answers.example', study: 'survey', seed, outbox,
 * });
 */
import { KeelsonError } from '../src/base/errors.js';
import { NetworkContributor } from './contributor.js';
import type { Contributor, ContributorOptions } from './contributor-contract.js';
import { onceTransport, readNotice } from './http/once.js';
import type { TypedRow } from './rows.js';
import { OnceChannel } from './session/once-channel.js';

export { openOutbox, openSeed } from '#outbox';
export {
  InvalidInputError, InvalidParameterError, KeelsonError, WireError,
} from '../src/base/errors.js';
export { publicKeyOf } from './contributor.js';
export type { Contributor, ContributorOptions } from './contributor-contract.js';
export { memoryOutbox } from './outbox/memory.js';
export type { CellOf, ColumnInput, ColumnsInput, RowOf } from '../src/base/row-types.js';

/**
 * As for `createContributor`. Pass the id of the study, so that a cache can answer with its facts.
 */
export type OnceContributorOptions =
  Omit<ContributorOptions, 'sealing' | 'openTransport' | 'encryptedOnly'>;

/** As `Contributor`, without the parts that need a channel. */
export type OnceContributor<Row extends TypedRow = TypedRow> =
  Omit<Contributor<Row>, 'withdraw' | 'ownSpend' | 'via'>;

/**
 * A contributor that opens no channel. Rows wait in the outbox, are sent again with the same bytes
 * and settle once, as those of `createContributor`. It differs where a channel reveals more to its
 * own key:
 * - The next sequence comes from the outbox. Without one that lasts, a key sends in one run only.
 *   Use each key here or with a channel, or share the outbox.
 * - A batch that an epoch does not take because of the key's state is `not-counted`: complete,
 *   withdrawn, quarantined and without budget are one answer.
 * - The answer is as good as the connection: use TLS.
 * - Sealed studies end it with `unsupported`, and so does a server without `POST /v1/once`.
 * - Batches are signed, not encrypted: TLS alone hides them. `encryptedOnly` is refused.
 *
 * @throws InvalidParameterError for a URL, seed, key or token that can never work;
 *   KeelsonError('unsupported') with the option `encryptedOnly` of a channel.
 */
export function createOnceContributor<Row extends TypedRow = TypedRow>(
  options: OnceContributorOptions,
): OnceContributor<Row> {
  if ('encryptedOnly' in options && options.encryptedOnly === true) {
    throw new KeelsonError('unsupported', 'a batch without a channel is signed, not encrypted: '
      + 'call createContributor, or leave encryptedOnly out');
  }
  return new NetworkContributor(options, {
    via: 'http',
    channel: (channelOptions) =>
      new OnceChannel(channelOptions, (study) => readNotice(options.url, study)),
    transport: (runtime, _onVia, end) =>
      onceTransport({ runtime, study: options.study, onRefused: end }),
  });
}
