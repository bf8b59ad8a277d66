import type { ArgsDef } from 'citty';
import { protocolLimits } from '../../src/base/limits.js';
import type { Participation, PrivacyTarget } from '../../src/estimators/contract/estimator.js';
import { participationWords } from '../../src/estimators/contract/given.js';
import { targetUnder, type Ledger } from '../../src/ledger.js';
import {
  epsilonRange, rhoRange, targetAlone, targetFromRho,
} from '../../src/privacy/accounting/target.js';
import { UsageError } from './errors.js';
import { numberFlag } from './numbers.js';

/** The flags for the cost of a release. `estimate`, `plan` and `audit` share them. */
export const privacyArguments = {
  epsilon: {
    type: 'string', valueHint: 'e',
    description: 'privacy loss bound of the release; or rho=R, its bound in zCDP',
  },
  delta: {
    type: 'string',
    valueHint: 'd',
    description: 'probability that the bound fails, far below 1 / contributors; 0 for pure privacy '
      + '(default: 1e-6, or less where that is more than a tenth of 1 / contributors)',
  },
} as const;

/** The flag that states whether presence is protected. The same commands share it. */
export const participationArgument = {
  participation: {
    type: 'enum', options: ['secret', 'public'],
    description: `needed with --cohort. secret: ${participationWords.secret}. public: `
      + participationWords.public,
  },
} satisfies ArgsDef;

/** The value of `--cohort`; undefined if it is not given. */
export function cohortFlag(text: string | undefined): number | undefined {
  return numberFlag(
    text, '--cohort', { atLeast: 1, atMost: protocolLimits.cohortMax, whole: true },
  );
}

/**
 * The value of `--participation`.
 * @param isPlanned - a number of contributors is planned for, so both are possible.
 * @param usual - what holds if none is.
 * @throws UsageError that shows both choices, if it must be given.
 */
export function participationOf(
  given: string | undefined, isPlanned: boolean, usual: Participation,
): Participation {
  if (given === 'secret' || given === 'public') return given;
  if (!isPlanned) return usual;
  throw new UsageError(`--participation is missing: give --participation secret (`
    + `${participationWords.secret}) or --participation public (${participationWords.public})`);
}

export interface PrivacyFlags {
  readonly epsilon?: string | undefined;
  readonly delta?: string | undefined;
}

/**
 * The delta that is taken where none is given: a power of ten, at most 1e-6 and at most a tenth of
 * 1 / contributors.
 * @param contributors - a public number; undefined: it is not known.
 */
export function usualDelta(contributors = 1): number {
  return Number(`1e-${deltaDigits(contributors)}`);
}

/** The d of the usual delta 1e-d. */
export function deltaDigits(contributors: number): number {
  let digits = 6;
  while (10 * contributors > 10 ** digits) digits += 1;
  return digits;
}

/**
 * @param contributors - the public number of people, for the usual delta.
 * @param ledger - pays. Its delta is then the usual one.
 * @throws UsageError if flags are missing, contradict each other or are out of range.
 */
export function targetOfFlags(
  flags: PrivacyFlags, contributors: number | undefined, ledger?: Ledger,
): PrivacyTarget {
  const { delta: text = String(ledger?.terms.delta ?? usualDelta(contributors)) } = flags;
  const isPure = Number(text) === 0 && text.trim() !== '';
  const delta = isPure ? 0 : numberFlag(text, '--delta', { atLeast: 1e-100, below: 0.5 });
  if (flags.epsilon === undefined) {
    throw new UsageError('--epsilon is missing: give for example --epsilon 1, or --epsilon '
      + 'rho=0.1');
  }
  const rho = rhoIn(flags.epsilon);
  if (rho !== undefined) {
    if (ledger !== undefined) throw new UsageError('--epsilon rho=R is not for --ledger, which has '
      + 'a share of its delta for each answer: give epsilon itself');
    if (isPure) throw new UsageError('--epsilon rho=R with --delta 0: zCDP is not pure; give '
      + 'epsilon itself, or a --delta above 0');
    return targetFromRho(numberFlag(rho, '--epsilon rho', rhoRange), delta);
  }
  const epsilon = numberFlag(flags.epsilon, '--epsilon', epsilonRange);
  return ledger === undefined
    ? targetAlone({ epsilon, delta }) : targetUnder(ledger, { epsilon, delta });
}

/** The text after `rho=` in the value of `--epsilon`; undefined if it does not begin so. */
export function rhoIn(epsilon: string | undefined): string | undefined {
  return /^rho=(.*)$/.exec(epsilon?.trim() ?? '')?.[1];
}
