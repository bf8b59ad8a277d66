/**
 * The contributing half of `keelson/client`, for pages that send rows and read no releases. Without
 * the code that reads and verifies releases it stays below 30,000 bytes compressed.
 *
 * @module keelson/client/contribute
 * @example
 * import { createContributor, openOutbox, openSeed } from 'keelson/client/contribute';
 *
 * const [seed, outbox] = await Promise.all([openSeed('survey'), openOutbox('survey')]);
 * const contributor = createContributor({
 *   url: 'wss://answers.example', study: 'survey', seed, outbox,
 * });
 */
export { openOutbox, openSeed } from '#outbox';
export {
  InvalidInputError, InvalidParameterError, KeelsonError, WireError,
} from '../src/base/errors.js';
export { createContributor, publicKeyOf } from './contributor.js';
export type { Contributor, ContributorOptions } from './contributor-contract.js';
export { memoryOutbox } from './outbox/memory.js';
