import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { createLedger, openLedger } from '../../server/ledger/file.js';
import {
  ledgerState, ledgerText, type Ledger, type LedgerEntry, type LedgerState,
} from '../../src/ledger.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { epsilonRange } from '../../src/privacy/accounting/target.js';
import { UsageError } from '../base/errors.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import { numberFlag } from '../base/numbers.js';
import { formatNumber, type Output } from '../base/output.js';
import { participationOf, usualDelta } from '../base/privacy-flags.js';

/** The flags with which a ledger in a file is made. */
export interface TermFlags {
  readonly data?: string | undefined;
  readonly epsilon?: string | undefined;
  readonly delta?: string | undefined;
  readonly participation?: string | undefined;
  readonly contributor?: string | undefined;
}

/** True if a path is that of a ledger in a file, or if flags ask to make one there. */
export function isFileLedger(path: string | undefined, flags: TermFlags): path is string {
  const { data, epsilon, delta, participation, contributor } = flags;
  const makes = [data, epsilon, delta, participation, contributor]
    .some((text) => text !== undefined);
  return path !== undefined
    && (makes || statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Makes the ledger if the flags say with which budget, and shows it. */
export function showFileLedger(
  path: string, flags: TermFlags, entriesMost: number, output: Output,
): void {
  const ledger = flags.epsilon === undefined ? opened(path, flags) : made(path, flags);
  const state = ledgerState(ledger);
  const entries = ledger.entries();
  const newest = [...entries].reverse().slice(0, entriesMost);
  output.json(jsonOf(ledger, state, newest));
  const { participation, contributor } = ledger.terms;
  wrap(ledgerText(state), terminalColumns).forEach((line) => output.text(line));
  const people = contributor === undefined ? 'every row is one' : `the ids of ${contributor}`;
  output.text(`  people: ${people}; who takes part is ${participation}`);
  for (const neighbours of new Set(entries.map((entry) => entry.neighbours))) {
    wrap(`neighbours: ${neighbours}`, terminalColumns - 2)
      .forEach((line) => output.text(`  ${line}`));
  }
  if (newest.length === 0) return;
  output.text();
  output.table(['when', 'answer', 'epsilon', 'rho', 'delta'], newest.map((entry) => {
    const { rho, delta } = amountsOf(entry);
    const numbers = [entry.asked.epsilon, rho, delta].map(formatNumber);
    return [entry.at!.slice(0, 19), entry.answer, ...numbers];
  }));
}

function opened(path: string, flags: TermFlags): Ledger {
  const extra = (['data', 'delta', 'participation', 'contributor'] as const)
    .find((name) => flags[name] !== undefined);
  if (extra === undefined) return openLedger(path);
  throw new UsageError(`--${extra} is for a ledger that is made: add --epsilon with its budget, or `
    + `leave --${extra} out to see ${path}`);
}

function made(path: string, flags: TermFlags): Ledger {
  const { data = basename(path), contributor } = flags;
  const epsilon = numberFlag(flags.epsilon!, '--epsilon', epsilonRange);
  const delta = flags.delta?.trim() === '0' ? 0
    : numberFlag(flags.delta, '--delta', { atLeast: 1e-100, below: 0.5 }) ?? usualDelta();
  const participation = participationOf(flags.participation, true, 'secret');
  return createLedger(path, {
    data, epsilon, delta, participation, ...(contributor !== undefined && { contributor }),
  });
}

function jsonOf(ledger: Ledger, state: LedgerState, entries: readonly LedgerEntry[]): object {
  const { participation, contributor = null } = ledger.terms;
  return {
    ...state, participation, contributor,
    entries: entries.map((entry) => {
      const { at, answer, asked, neighbours } = entry;
      return { at, answer, asked, ...amountsOf(entry), neighbours };
    }),
  };
}

function amountsOf({ charge: { rho, delta, pure } }: LedgerEntry) {
  return {
    rho: amountToNumber(rho), delta: amountToNumber(delta),
    pure: pure === null ? null : amountToNumber(pure),
  };
}
