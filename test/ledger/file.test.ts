import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLedger, openLedger } from '../../server/ledger/index.js';
import { InvalidInputError, StorageError } from '../../src/base/errors.js';
import type { LedgerEntry, LedgerTerms } from '../../src/ledger.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('ledger');
let made = 0;
const fresh = (): string => join(folder, `${made++}.ledger`);

const terms: LedgerTerms = {
  data: 'Umfrage „Mai“', epsilon: 1, delta: 1e-6, participation: 'secret', contributor: 'id',
};
const entry = (rho: number, pure: number | null = null): LedgerEntry => ({
  answer: 'count', asked: { epsilon: 0.1, delta: 1e-6 }, neighbours: 'anybody',
  charge: { rho: amountOf(rho), delta: amountOf(0), pure: pure === null ? null : amountOf(pure) },
});
/** A quarter of the rho of these terms, and a little more. */
const third = entry(0.006);

describe('a ledger in a file', () => {
  it('keeps its terms and charges, and belongs to its owner', () => {
    const path = fresh();
    const ledger = createLedger(path, terms);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ledger.charge(entry(0.001, 0.05))).toBe(true);
    const again = openLedger(path);
    expect(again.terms).toEqual(terms);
    expect(again.caps).toEqual(ledger.caps);
    expect(again.entries()).toEqual([expect.objectContaining(entry(0.001, 0.05))]);
    expect(() => createLedger(path, terms)).toThrow('such a file already');
  });

  it('goes on by its own rule where it was made before pure answers had an order', () => {
    const path = fresh();
    const { caps: { order, ...older } } = createLedger(path, terms);
    const [, header] = readFileSync(path, 'latin1').split('\n');
    const json = header!.replace(/^\S+ \S+ /, '').replace(/,"order":[^,}]*/, '');
    const digest = createHash('sha256').update(json).digest('hex').slice(0, 16);
    writeFileSync(path, `keelson ledger 1\n${json.length} ${digest} ${json}`, 'latin1');
    const ledger = openLedger(path);
    expect(order).toBeGreaterThan(1);
    expect(ledger.caps).toEqual(older);
    expect(ledger.charge(entry(0.2, 0.2))).toBe(true);
    expect(ledger.charge(third)).toBe(false);
    expect(readFileSync(path, 'latin1').split('\n')[0]).toBe('keelson ledger 1');
  });

  it('writes nothing for a charge that does not fit', () => {
    const path = fresh();
    const ledger = createLedger(path, terms);
    const before = readFileSync(path, 'utf8');
    expect(ledger.charge(entry(1))).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('counts the same charges for every reader when two programs charge at once', () => {
    const path = fresh();
    const ledger = createLedger(path, terms);
    while (ledger.charge(third));
    const counted = ledger.entries().length;
    // Another program looked before the last charge, and appended its own after it.
    const [late] = readFileSync(path, 'utf8').split('\n').slice(-1);
    appendFileSync(path, `\n${late}`);
    expect(openLedger(path).entries()).toHaveLength(counted);
    expect(openLedger(path).charge(entry(0.0001))).toBe(true);
  });

  it('survives a stop at every byte of a charge', () => {
    const path = fresh();
    const ledger = createLedger(path, terms);
    ledger.charge(entry(0.001));
    const before = readFileSync(path);
    ledger.charge(entry(0.002));
    const after = readFileSync(path);
    for (let length = before.length; length <= after.length; length++) {
      writeFileSync(path, after.subarray(0, length));
      const found = openLedger(path).entries().length;
      expect(found).toBe(length === after.length ? 2 : 1);
      expect(openLedger(path).charge(entry(0.003))).toBe(true);
      expect(openLedger(path).entries()).toHaveLength(found + 1);
    }
  });

  it('survives a stop at every byte of its making', () => {
    const path = fresh();
    createLedger(path, terms);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      expect(() => openLedger(path)).toThrow('not made completely');
    }
  });

  it('finds every changed digit of a charge', () => {
    const path = fresh();
    const ledger = createLedger(path, terms);
    ledger.charge(entry(0.001));
    const start = readFileSync(path).length;
    ledger.charge(entry(0.002));
    const whole = readFileSync(path);
    for (let place = start + 1; place < whole.length; place++) {
      const changed = Buffer.from(whole);
      changed[place] = changed[place] === 0x39 ? 0x38 : 0x39;
      writeFileSync(path, changed);
      expect(() => openLedger(path).entries(), `byte ${place}`).toThrow(StorageError);
    }
  });

  it('refuses files of others and of newer programs, each with its remedy', () => {
    const path = fresh();
    expect(() => openLedger(path)).toThrow('make one with keelson ledger');
    writeFileSync(path, 'id,minutes\n1,2\n');
    expect(() => openLedger(path)).toThrow(InvalidInputError);
    writeFileSync(path, 'keelson ledger 3\n');
    expect(() => openLedger(path)).toThrow('newer');
    expect(() => createLedger(join(folder, 'none', 'a'), terms)).toThrow('make it first');
    expect(() => createLedger(fresh(), { ...terms, data: 'two\nlines' })).toThrow('data is a name');
  });
});
