/**
 * The private estimators. Each is an export of its own, so that a bundle holds only those that it
 * uses.
 *
 * @module keelson/estimators
 */
export * from './generated/exports.js';
