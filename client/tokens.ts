/**
 * Blind enrolment tokens, for contributors to studies that admit by them. An entry of its own,
 * since other contributors need none of it.
 *
 * @module keelson/client/tokens
 * @example
 * import { createContributor } from 'keelson/client';
 * import { requestToken } from 'keelson/client/tokens';
 *
 * const contributor = createContributor({
 *   url, study: 'survey', seed,
 *   enrolment: async (study) =>
 *     (await requestToken({ issuer: 'https://tokens.example.org', code, seed, study })).enrolment,
 * });
 */
export { requestToken } from './token/request.js';
export type { BlindToken, TokenOptions } from './token/request.js';
export type { TokenPeriod } from '../src/base/token-periods.js';
