import type { QuestionName } from '../../src/question-names.js';

/** The title of each question, in the order of the page. */
export const questionWords: Readonly<Record<QuestionName, { readonly title: string }>> = {
  mean: { title: 'The mean of each column' },
  count: { title: 'How many people there are' },
  share: { title: 'The share of people who say yes' },
  total: { title: 'The total of each column' },
  ratio: { title: 'One total divided by another' },
  median: { title: 'The median of each column' },
  percentile: { title: 'Several percentiles of a column' },
  histogram: { title: 'How many people are in each bin' },
  distribution: { title: 'The whole distribution' },
  covariance: { title: 'How columns vary together' },
};

/** The form in which errors of a unit are shown. */
export interface Unit {
  /** Times the error of the plan. */
  readonly factor: number;
  readonly isPercent: boolean;
  /** Behind the number; empty for a number without a unit. */
  readonly short: string;
  /** A sentence. */
  readonly full: string;
}

/** Plans write units for commands, with further assumptions after a comma. */
export function unitOf(unit: string): Unit {
  const plain = { factor: 1, isPercent: false };
  if (unit === 'spreads') {
    return { ...plain, short: 'spreads', full: 'One spread is how far a value usually is from the '
      + 'middle. An error is the distance over all columns.' };
  }
  if (unit.startsWith('the Frobenius norm')) {
    return { ...plain, short: '', full: 'How far the matrix is off, relative to the true one: the '
      + 'Frobenius norm after the true one was made the identity.' };
  }
  const [what = unit] = unit.split(/,| in which /);
  const full = `The unit is ${unit}.`;
  if (unit.startsWith('shares of ')) {
    const short = what.replace('shares of the cohort', 'of the people').replace('shares of', 'of');
    return { factor: 100, isPercent: true, short, full: full.replace('shares', 'per cent') };
  }
  // A share is a mean of values from 0 to 1.
  if (unit.startsWith('half the width of the range')) {
    return { factor: 50, isPercent: true, short: 'of the people', full: 'Per cent of all people.' };
  }
  if (unit.startsWith('first cap')) {
    return { factor: 100, isPercent: true, short: 'of first cap / second cap', full };
  }
  return { ...plain, short: '', full };
}

/** An error as it is shown, without the words of its unit. */
export function errorNumber(error: number, unit: string): string {
  const { factor, isPercent } = unitOf(unit);
  return `${digits(factor * error)}${isPercent ? '\u00a0%' : ''}`;
}

/** With them. */
export function errorText(error: number, unit: string): string {
  const { short } = unitOf(unit);
  return `${errorNumber(error, unit)}${short === '' ? '' : ` ${short}`}`;
}

function digits(value: number): string {
  if (value === 0) return '0';
  return value >= 1e5 || value < 1e-4 ? value.toExponential(1).replace('e+', 'e').replace('-', '−')
    : Number(value.toPrecision(3)).toLocaleString('en-GB', { maximumFractionDigits: 8 });
}
