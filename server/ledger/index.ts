/**
 * Ledgers in files: one budget for all answers about some data, across programs. Give one to a
 * `Session` of `keelson`, or name it in `keelson estimate --ledger`.
 *
 * @module keelson/ledger
 */
export { createLedger, openLedger } from './file.js';
export {
  ledgerState, type Ledger, type LedgerCaps, type LedgerEntry, type LedgerState, type LedgerTerms,
} from '../../src/ledger.js';
