import { createHash } from 'node:crypto';
import { InvalidInputError, StorageError } from '../../src/base/errors.js';
import type { LedgerCaps, LedgerEntry, LedgerTerms } from '../../src/ledger.js';
import { parseAmount } from '../../src/privacy/accounting/amount.js';
import { amountRow, spendOf, type AmountRow } from '../store/rules/spend.js';

/*
 * The form of a ledger's file: a line with the format, then a record on each line. A record is its
 * length in bytes, the first 16 digits of its SHA-256 and its JSON, which is ASCII. A line break
 * begins each record, so that a record is whole without anything after it.
 */

/** Changes when the meaning of the file changes. The first one has no order. */
const [format, firstFormat] = ['keelson ledger 2', 'keelson ledger 1'] as const;

/** One charge, as a file has it. */
export interface LedgerRecord extends LedgerEntry {
  /** Random, to find it again. */
  readonly id: string;
  readonly at: string;
}

/** The contents of a file. */
export interface LedgerFile {
  readonly terms: LedgerTerms;
  readonly caps: LedgerCaps;
  /** All whole records, in the order of the file, whether they count or not. */
  readonly records: readonly LedgerRecord[];
}

/** The first record. */
interface Header extends Omit<LedgerCaps, 'rule' | 'order'> {
  readonly order: number | undefined;
  readonly terms: LedgerTerms;
  readonly made: string;
}

type AmountCap = 'rhoCap' | 'deltaCap' | 'pureCap';

const digestOf = (json: string): string =>
  createHash('sha256').update(json).digest('hex').slice(0, 16);

function lineOf(content: object): Uint8Array {
  const json = JSON.stringify(content,
    (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return Buffer.from(`\n${json.length} ${digestOf(json)} ${json}`, 'latin1');
}

/** A file without charges. */
export function encodeLedger(header: Header): Uint8Array {
  return Buffer.concat([Buffer.from(format), lineOf(header)]);
}

/** The bytes that a charge appends. */
export function encodeRecord({ charge, ...record }: LedgerRecord): Uint8Array {
  return lineOf({ ...record, ...amountRow(charge) });
}

/**
 * @throws InvalidInputError for a file of another kind or one that was not made completely;
 *   StorageError when it is damaged or of a newer program.
 */
export function parseLedger(bytes: Buffer, path: string): LedgerFile {
  const [first, ...lines] = bytes.toString('latin1').split('\n');
  if (first !== format && first !== firstFormat) throw notRead(first!, lines, path);
  const contents = lines.map((line, i) => contentOf(line, () => damaged(path, i + 2)));
  const header = contents.shift() as Omit<Header, AmountCap> & {
    readonly [Cap in AmountCap]: string;
  } | undefined;
  if (header === undefined) throw notWhole(path);
  const { terms, rhoCap, deltaCap, pureCap, order } = header;
  return {
    terms,
    caps: {
      rule: { rule: terms.delta === 0 ? 'pure' : 'zcdp' }, rhoCap: parseAmount(rhoCap),
      deltaCap: parseAmount(deltaCap), pureCap: parseAmount(pureCap),
      ...(order !== undefined && { order }),
    },
    records: contents.filter((content) => content !== undefined)
      .map((content) => recordOf(content as unknown as StoredRecord)),
  };
}

type StoredRecord = Omit<LedgerRecord, 'charge'> & AmountRow;

function recordOf({ rho, delta, pure, ...record }: StoredRecord): LedgerRecord {
  return { ...record, charge: spendOf({ rho, delta, pure }) };
}

/** Undefined for a part of a record that a program left when it was killed. */
function contentOf(line: string, damage: () => Error): object | undefined {
  const [, length, digest, json] = /^(\d+) ([0-9a-f]{16}) ([ -~]*)$/.exec(line) ?? [];
  if (json?.length === Number(length) && digestOf(json) === digest) {
    return JSON.parse(json) as object;
  }
  // A part of an object never ends with its last bracket.
  const isPart = /^\d*( [0-9a-f]{0,16}( [ -~]*)?)?$/.test(line) && !isJson(json ?? '')
    && (json ?? '').length < Number(length ?? Infinity);
  if (isPart) return undefined;
  throw damage();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notRead(first: string, lines: readonly string[], path: string): Error {
  if (lines.length === 0 && format.startsWith(first)) return notWhole(path);
  if (first.startsWith('keelson ledger ')) {
    return new StorageError(
      `${path} was written by a newer keelson: use that one`, 'schema-too-new');
  }
  return new InvalidInputError(`${path} is no ledger of keelson: check the path`, { path });
}

function notWhole(path: string): InvalidInputError {
  return new InvalidInputError(`${path} was not made completely, since the program that made it was `
    + 'interrupted: nothing was charged, so remove it and make it again', { path });
}

function damaged(path: string, line: number): StorageError {
  return new StorageError(`line ${line} of the ledger ${path} is damaged, so what was spent is not `
    + 'known: put a copy of the file back to which nothing was charged since', 'storage-failed',
  { details: { path, line } });
}
