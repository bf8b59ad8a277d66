import {
  parseAmount, parsePure, pureText, zeroAmount, type Amount, type PureAmount,
} from '../../../src/privacy/accounting/amount.js';
import { plusPure, type Caps, type Charge } from '../../../src/privacy/accounting/budget.js';

/** An amount of the ledger as rows have it. */
export interface AmountRow {
  readonly rho: string;
  readonly delta: string;
  /** Null is `none`. */
  readonly pure: string | null;
}

/** The amounts in a row. */
export const spendOf = ({ rho, delta, pure }: AmountRow): Charge =>
  ({ rho: parseAmount(rho), delta: parseAmount(delta), pure: parsePure(pure) });

export const amountRow = ({ rho, delta, pure }: Charge): AmountRow =>
  ({ rho: String(rho), delta: String(delta), pure: pureText(pure) });

/** `none` less anything is `none`. */
export const minus = (left: Charge, right: Charge): Charge =>
  ({
    rho: (left.rho - right.rho) as Amount, delta: (left.delta - right.delta) as Amount,
    pure: left.pure === null || right.pure === null ? null : (left.pure - right.pure) as Amount,
  });

/** True if nothing of it is negative. */
export const isAmount = ({ rho, delta, pure }: Charge): boolean =>
  rho >= 0n && delta >= 0n && (pure === null || pure >= 0n);

export const isSame = (left: Charge, right: Charge): boolean =>
  left.rho === right.rho && left.delta === right.delta && left.pure === right.pure;

export const noSpend = { rho: zeroAmount, delta: zeroAmount, pure: zeroAmount } as const;

/**
 * A contributor's sum after a debit is given back. A sum that is `none` stays so, as nobody knows
 * what the others cost, unless there are none: every charge has some rho or delta.
 */
export function debitLeft(sum: Charge, cost: Charge): Charge {
  const left = minus(sum, cost);
  return left.rho === 0n && left.delta === 0n ? noSpend : left;
}

export const smaller = (left: Amount, right: Amount): Amount => (left < right ? left : right);

/** Coordinate by coordinate. */
export const atMost = ({ rho, delta, pure }: Charge, caps: Caps): Charge =>
  ({
    rho: smaller(rho, caps.rho), delta: smaller(delta, caps.delta),
    pure: pure === null ? null : smaller(pure, caps.pure),
  });

export const pureSum = (rows: readonly Pick<AmountRow, 'pure'>[]): PureAmount =>
  rows.reduce<PureAmount>((sum, { pure }) => plusPure(sum, parsePure(pure)), zeroAmount);
