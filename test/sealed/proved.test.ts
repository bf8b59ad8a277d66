import { describe, expect, it } from 'vitest';
import { ProofError } from '../../src/sealed/proof/verifier.js';
import { bits } from '../../src/sealed/steps/adder.js';
import { number } from '../../src/sealed/steps/convert.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import type { Party } from '../../src/sealed/steps/party.js';
import { openSealed } from '../../src/base/wrappers.js';
import {
  bitsAt, dotsOf, headBytes, Network, numbersAt, openedSum, runThree, splitBits, splitNumbers,
  type Passed,
} from '../support/sealed-run.js';

const words = Uint32Array.from({ length: 5 }, (_, i) => 0x9e37_79b9 * (i + 1));
const inputs = {
  a: splitBits(words, 'a'), b: splitBits(words.map((word) => word ^ 0x55aa_33cc), 'b'),
  x: splitNumbers([3n, -5n, 12_345n], 'x'), y: splitNumbers([7n, 11n, -2n], 'y'),
};

/** Every step that sends messages, and an opening of what they gave. */
async function program(party: Party): Promise<readonly bigint[]> {
  const { server } = party;
  const x = numbersAt(server, inputs.x);
  const y = numbersAt(server, inputs.y);
  const both = await and(party, bitsAt(server, inputs.a), bitsAt(server, inputs.b));
  const asNumbers = await number(party, both);
  const products = await product(party, x, y);
  const sums = await dot(
    party, x, y, dotsOf(2, 3, (_, term) => term, (sum, term) => (term + sum) % 3),
  );
  const planes = await bits(party, products, { from: 0, end: 20 });
  const low = await number(party, planes[3]!);
  const own = [asNumbers, products, sums, low].map((list) => openSealed(list).own);
  const opened: bigint[] = [];
  for (const list of own) {
    opened.push(...new BigUint64Array((await openedSum(party, list)).slice().buffer));
  }
  return opened;
}

const changed = (
  at: number, by: bigint, seen: { count: number },
): ((passed: Passed) => Uint8Array) => ({ message }) => {
  const place = seen.count++;
  if (place !== at) return message;
  const copy = message.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(headBytes, view.getUint32(headBytes, true) ^ Number(by), true);
  return copy;
};

describe('a run whose messages are proved', () => {
  it('opens the same numbers as one without proofs', async () => {
    const plain = await runThree(program);
    const proved = await runThree(program, { isProved: true });
    expect(proved).toEqual(plain);
  });

  it('ends before an opening where any message before it is changed', async () => {
    const network = new Network();
    await runThree(program, { network, isProved: true });
    const ends: string[] = [];
    for (let at = 0; at < network.passed.length; at++) {
      const changing = new Network(changed(at, 1n, { count: 0 }));
      ends.push(await runThree(program, { network: changing, isProved: true }).then(
        () => 'opened', (error) => (error instanceof ProofError ? error.reason : String(error)),
      ));
    }
    // The six messages of the last opening are noise of their senders.
    expect(ends.map((end, at) => (end === 'opened' ? at : null)).filter((at) => at !== null))
      .toEqual(Array.from({ length: 6 }, (_, i) => network.passed.length - 6 + i));
  });
});
