import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/random/work.js';
import { VerifiersCoins, type Chunk } from '../../src/sealed/proof/chunks.js';
import { elementOf, innerProduct, sharedField, type Field } from '../../src/sealed/proof/field.js';
import { degreesOf, fanInsOf } from '../../src/sealed/proof/folds.js';
import {
  leftOfAnd, leftOfDot, numberStatements, rightOfAnd, rightOfDot,
} from '../../src/sealed/proof/statements.js';
import {
  LeftVerifier, ProofError, RightVerifier,
} from '../../src/sealed/proof/verifier.js';
import {
  chunkOf, listed, proofOf, type ProofEvents, type Statements,
} from '../support/sealed-proofs.js';

const field = sharedField;
const random = seededRandom(Uint8Array.of(61));
const element = (): bigint =>
  elementOf(field, BigInt(Math.floor(random.uniform() * 2 ** 53)) * 257n);
const bit = (): number => Math.floor(random.uniform() * 2);

/**
 * Statements of every kind about messages that are right, but for what is added to one of them.
 * @param wrong - the kind and place of a message, and what is added.
 */
function statementsOf(
  ands: number, wrong?: { readonly at: number; readonly by: bigint },
): Statements {
  const left: Statements['left'][number][] = [];
  const right: Statements['right'][number][] = [];
  const added = (): bigint => (wrong?.at === left.length ? wrong.by : 0n);
  for (let i = 0; i < ands; i++) {
    const own = { x: bit(), y: bit(), mask: bit() };
    const next = { x: bit(), y: bit(), mask: bit() };
    const sent = (own.x & own.y) ^ (own.x & next.y) ^ (next.x & own.y) ^ own.mask ^ next.mask
      ^ Number(added() !== 0n);
    left.push(leftOfAnd({ ...own, sent }));
    right.push(rightOfAnd(next));
  }
  const [x, y, a, b] = Array.from({ length: 4 }, () => Array.from({ length: 3 }, element)) as
    [bigint[], bigint[], bigint[], bigint[]];
  const [mask, other] = [element(), element()];
  const dot = innerProduct(field, [...x, ...x, ...y, mask], [...y, ...b, ...a, 1n]) - other;
  left.push(leftOfDot(x, y, mask, elementOf(field, dot + added())));
  right.push(rightOfDot(a, b, other));
  const [t0, t1] = [element(), element()];
  const bits = [1n, 1n, 1n];
  const first = elementOf(field, bits[0]! * bits[1]! - mask + added());
  left.push(numberStatements.leftOf0(bits[0]!, mask));
  right.push(numberStatements.rightOf0(bits[1]!, first));
  const second = elementOf(field, t0 * bits[2]! + mask + added());
  left.push(numberStatements.leftOf2(bits[2]!, mask));
  right.push(numberStatements.rightOf2(t0, second));
  const third = elementOf(field, t1 * bits[2]! + other + added());
  left.push(numberStatements.leftOf1(t1, third));
  right.push(numberStatements.rightOf1(bits[2]!, other));
  return { left, right };
}

const reasonOf = (error: Error | null): string | null =>
  (error instanceof ProofError ? error.reason : error === null ? null : error.message);

/** What the verifiers say, or the one reason for which a proof ends before. */
function verdictsOf(
  statements: Statements, change: ProofEvents['change'] = {}, seed = 'proof',
): string {
  try {
    return proofOf(field, statements, statements, { change }, { seed })
      .verdicts.map(reasonOf).join();
  } catch (error) {
    return `ends: ${reasonOf(error as Error)}`;
  }
}

describe('statements of messages', () => {
  it('of `and` hold for the right bit alone, in any field', () => {
    for (let all = 0; all < 2 ** 6; all++) {
      const [x, y, mask, x2, y2, mask2] =
        [0, 1, 2, 3, 4, 5].map((place) => (all >>> place) & 1) as
          [number, number, number, number, number, number];
      const right = (x & y) ^ (x & y2) ^ (x2 & y) ^ mask ^ mask2;
      const { w, r } = rightOfAnd({ x: x2, y: y2, mask: mask2 });
      for (const sent of [0, 1]) {
        const { u, l } = leftOfAnd({ x, y, mask, sent });
        const sum = u.reduce((total, value, i) => total + value * w[i]!, 0n);
        expect(sum).toBe(sent === right ? 1n : -1n);
        expect(l + r).toBe(1n);
      }
    }
  });
});

describe('a proof of a chunk', () => {
  it.each([1, 5, 40, 300])('of %i ands, a dot and a number is accepted by both', (ands) => {
    for (let i = 0; i < 5; i++) {
      expect(verdictsOf(statementsOf(ands), {}, `honest ${i}`)).toBe(',');
    }
  });

  it('is refused by both for a wrong message of every kind and place', () => {
    const ands = 20;
    for (let at = 0; at < ands + 4; at++) {
      for (const by of [1n, -1n, 2n ** 22n, 2n ** 61n - 2n]) {
        const verdicts = verdictsOf(statementsOf(ands, { at, by }));
        expect([at, by, verdicts]).toEqual([at, by, 'proof,proof']);
      }
    }
  });

  it('is refused for the value that should have been sent', () => {
    const right = statementsOf(20);
    const sent = right.right.map((side, i) => (i === 21 ? { ...side, r: side.r + 1n } : side));
    const { verdicts } = proofOf(field, right, { left: right.left, right: sent }, {});
    expect(verdicts.map(reasonOf)).toEqual(['proof', 'proof']);
  });

  it('is refused for each element of each fold that is changed', () => {
    const statements = statementsOf(40);
    const whole = proofOf(field, statements, statements, {});
    whole.elements.forEach((elements, fold) => {
      elements.forEach((_, place) => {
        expect(verdictsOf(statements, {
          elements: (sent, at) => (at === fold
            ? sent.with(place, elementOf(field, sent[place]! + 1n)) : sent),
        })).toBe('proof,proof');
      });
    });
    expect(whole.elements.map(({ length }) => length)).toEqual([6, 6, 22]);
  });

  it.each<[string, NonNullable<ProofEvents['change']>, string]>([
    ['a false coin', { coin: (coin, fold) => (fold === 0 ? coin + 1n : coin) }, 'ends: coins'],
    ['a false half of the seed', {
      half: (half, from) => (from === 'right' ? half.with(3, half[3]! ^ 1) : half),
    }, 'ends: coins'],
    ['a false digest to one', {
      digest: (digest, to) => (to === 'right' ? digest.with(0, digest[0]! ^ 1) : digest),
    }, 'ends: coins'],
    ['a false final entry', {
      final: (said, from) => (from === 'left' ? { ...said, entry: said.entry + 1n } : said),
    }, ',proof'],
    ['a false final share', {
      final: (said, from) => (from === 'right' ? { ...said, share: said.share + 1n } : said),
    }, 'proof,'],
    ['an element that is none', { elements: (sent) => sent.with(0, field.prime) }, 'ends: element'],
    ['a short fold', { elements: (sent) => sent.slice(1) }, 'ends: element'],
  ])('with %s', (_, change, verdict) => {
    expect(verdictsOf(statementsOf(40), change)).toBe(verdict);
  });

  it('has degrees that make a wrong one as rare as 2^-52, up to 2^24 products', () => {
    for (let log = 0; log <= 24; log++) {
      expect(BigInt(degreesOf(fanInsOf(2 ** log)) + 3) * 2n ** 52n)
        .toBeLessThanOrEqual(field.prime - field.coinsFrom);
    }
  });
});

/** Two verifiers' coins in a tiny field. */
const coinsOf = (tiny: Field, values: readonly bigint[]): VerifiersCoins =>
  new VerifiersCoins(tiny, listed(values), new Uint8Array(32));

/** All lists of so many elements. */
function* all(prime: bigint, count: number): Generator<readonly bigint[]> {
  for (let code = 0n; code < prime ** BigInt(count); code++) {
    yield Array.from({ length: count }, (_, i) => (code / prime ** BigInt(i)) % prime);
  }
}

describe('in the field of 13, a false claim', { tags: ['slow'] }, () => {
  it.each([2, 3])('passes for no more coins than a polynomial has roots: %i nodes', (nodes) => {
    const tiny: Field = { prime: 13n, coinsFrom: BigInt(nodes) };
    // 3 . 2 is 6, and 3 . 2 + 5 . 7 is 2: the claim is one more.
    const [u, w] = [[3n, 5n].slice(0, nodes - 1), [2n, 7n].slice(0, nodes - 1)];
    const left = [{ u, l: 1n }];
    const right = [{ w, r: innerProduct(tiny, u, w) }];
    const chunk: Chunk = chunkOf(tiny, { left, right }, [nodes]);
    const shares = [1n, 6n, 9n, 11n].slice(0, 2 * nodes - 2);
    const said = chunk.sha512(new Uint8Array(32));
    let [most, proofs] = [0, 0];
    for (const elements of all(tiny.prime, shares.length)) {
      let passed = 0;
      for (let coin = tiny.coinsFrom; coin < tiny.prime; coin++) {
        const leftVerifier = new LeftVerifier({
          chunk, coins: coinsOf(tiny, [coin]), withProver: listed([4n, ...shares]),
        }, left);
        const rightVerifier = new RightVerifier({
          chunk, coins: coinsOf(tiny, [coin]), withProver: listed([8n]),
        }, right);
        rightVerifier.fold(elements);
        try {
          rightVerifier.check(leftVerifier.final(said));
          passed += 1;
        } catch (error) {
          if (!(error instanceof ProofError)) throw error;
        }
      }
      most = Math.max(most, passed);
      proofs += 1;
    }
    expect(proofs).toBe(13 ** (2 * nodes - 2));
    expect(most).toBe(2 * nodes - 2);
  });
});

describe('in the field of 7, what a verifier sees', { tags: ['long'] }, () => {
  const tiny: Field = { prime: 7n, coinsFrom: 2n };
  const fanIns = [2, 2];
  const w = [2n, 3n];

  /**
   * How often the right verifier sees what, over all elements that it lacks. The coins are 4 and 6.
   * @param told - the coin that the prover is told in place of 4.
   * @param isChecked - whether the left verifier compares the digest of the coins.
   */
  function viewsOfRight(u: readonly bigint[], told: bigint, isChecked: boolean) {
    const seen = new Map<string, number>();
    const r = 3n;
    const l = elementOf(tiny, innerProduct(tiny, u, w) - r);
    const statements = { left: [{ u, l }], right: [{ w, r }] };
    const own = chunkOf(tiny, statements, fanIns);
    const digest = (): Uint8Array =>
      own.sha512(Uint8Array.from([...new Uint8Array(32), 4, ...new Uint8Array(7)]));
    for (const lacked of all(tiny.prime, 5)) {
      const shared = (): ReturnType<NonNullable<ProofEvents['streams']>> => ({
        left: [listed(lacked), listed(lacked)], right: [listed([5n]), listed([5n])],
        coins: [listed([4n, 6n]), listed([4n, 6n])],
      });
      const elements: (readonly bigint[])[] = [];
      let final = 'nothing';
      try {
        const run = proofOf(tiny, statements, statements, {
          streams: shared,
          change: {
            coin: () => told, elements: (sent) => (elements.push(sent), sent),
            half: () => new Uint8Array(16), ...(!isChecked && { digest }),
          },
        }, { fanIns, seed: 'zero' });
        final = `${run.finals.left.entry} ${run.finals.left.share}`;
      } catch (error) {
        if (!(error instanceof ProofError)) throw error;
      }
      const view = `${elements.join()} ${final}`;
      seen.set(view, (seen.get(view) ?? 0) + 1);
    }
    return seen;
  }

  const [one, other] = [[1n, 2n], [1n, 5n]];

  it('is the same for two left sides, with the right coin', () => {
    expect(viewsOfRight(one, 4n, true)).toEqual(viewsOfRight(other, 4n, true));
  });

  it('is the same with a false coin, since the left verifier then says nothing', () => {
    const seen = viewsOfRight(one, 5n, true);
    expect(seen).toEqual(viewsOfRight(other, 5n, true));
    expect([...seen.keys()].every((view) => view.endsWith('nothing'))).toBe(true);
  });

  it('would differ with a false coin, if nobody compared the digest', () => {
    expect(viewsOfRight(one, 5n, false)).not.toEqual(viewsOfRight(other, 5n, false));
  });
});
