import {
  sealedCost, serverDeviation, type SealedEvent,
} from '../../privacy/accounting/sealed-cost.js';
import { noisedShare, openedValues } from '../../privacy/mechanisms/sealed-noise.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';
import { constantNumbers, addInto } from '../../sealed/steps/words.js';
import { compareLaws, type CaseResult } from './claims.js';
import { mapped, product, type Law } from './law.js';
import { textOf } from './mechanism-laws.js';
import { gaussianNoise } from './noise.js';

/** One number that three servers open, at or near the coarsest grid that is allowed. */
export interface SealedCase {
  readonly name: string;
  readonly event: SealedEvent;
  /** True if the number is an entry off the diagonal of a symmetric matrix. */
  readonly isOffDiagonal: boolean;
  /** Whole numbers; every two of them are neighbours. */
  readonly contents: readonly number[];
}

const place = { name: 'sum', cohort: 'rows', grid: 1 } as const;

export const sealedCases: readonly SealedCase[] = [
  {
    name: 'sealed gaussian, two of three draws',
    event: { ...place, kind: 'gaussian', dimension: 1, sensitivity: 16, sigma: 11.3 },
    isOffDiagonal: false, contents: [0, 5, 16],
  },
  {
    name: 'sealed symmetric-gaussian, off the diagonal',
    // An entry that moves by 8 counts twice in the Frobenius norm.
    event: {
      ...place, kind: 'symmetric-gaussian', dimension: 2, sensitivity: 8 * Math.SQRT2, sigma: 16,
    },
    isOffDiagonal: true, contents: [0, 3, 8],
  },
];

/**
 * Compares `sealedCost` with the exact laws as seen by anyone who knows one server's draws.
 * Readers see that and an independent third draw, so they learn less. A server that draws nothing
 * leaves readers with the same.
 * The shipped sum runs for every two values of noise, whose law `gaussianNoise` is.
 */
export function checkSealedCase({ name, event, isOffDiagonal, contents }: SealedCase): CaseResult {
  const deviation = serverDeviation(event, isOffDiagonal);
  const own = gaussianNoise({ numerator: deviation ** 2n, denominator: 1n });
  const both = product(own, own);
  const laws = contents.map((content): Law => mapped(
    both, ([first, second]) => opened(event, content, first, second), textOf,
  ));
  const cost = sealedCost([event], { disjoint: [] });
  const faults: string[] = [];
  let [pairs, share, tail] = [0, 0, 0];
  contents.forEach((left, i) => {
    contents.slice(i + 1).forEach((right, more) => {
      const found = compareLaws(laws[i]!, laws[i + 1 + more]!, cost);
      pairs += 1;
      share = Math.max(share, found.share);
      tail = Math.max(tail, found.tail);
      faults.push(...found.faults.map((fault) => `${left} and ${right}: ${fault}`));
    });
  });
  return { name, contents: contents.length, pairs, share, tail, faults };
}

/** The opened value of an entry split at random. The third server's noise is known, here 0. */
function opened(event: SealedEvent, content: number, first: Steps, second: Steps): number {
  const split = constantNumbers(1, -0x1234_5678_9abc_def0n);
  const rest = constantNumbers(1, BigInt(content) + 0x1234_5678_9abc_def0n);
  const sum = noisedShare(split, 1 / event.grid, [() => first]);
  addInto(sum, noisedShare(rest, 1 / event.grid, [() => second]));
  const single = { ...event, kind: 'gaussian', dimension: 1 } as const;
  return openedValues(single, sum)[0]!;
}
