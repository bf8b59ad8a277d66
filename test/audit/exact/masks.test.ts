import { describe, expect, it } from 'vitest';
import { checkMask, maskCases } from '../../../src/audit/exact/mask-cases.js';
import type { AffineMaskEvent, WishartMaskEvent } from '../../../src/privacy/accounting/events.js';
import { drawMask } from '../../../src/privacy/mechanisms/masking.js';
import { RandomBits } from '../../../src/random/bits.js';
import { normalDouble } from '../../../src/random/samplers/normal.js';
import { seededNoise } from '../../../src/random/insecure.js';

/** `mechanisms.test.ts` compares every mask with its charge. */
describe('masks of a number, by quadrature', () => {
  const [wishart] = maskCases;

  it('show numbers that are 2 % farther apart than was charged', { tags: ['long'] }, () => {
    const { logDistance } = wishart!.event;
    const { faults, share } = checkMask({ ...wishart!, logDistance: 1.02 * logDistance });
    expect(faults[0]).toMatch(/^e\^\S+ and e\^\S+: the divergence of order 3 is 0\.17/);
    expect(share).toBeGreaterThan(1.02);
  });

  it.each(maskCases)('$name: the draw is the function of its normal numbers that is compared', (
    { event },
  ) => {
    for (const content of [0.5, 1, 3]) {
      const drawn = drawMask(new RandomBits(seededNoise('mask')), event, Float64Array.of(content));
      const expected = content * ofNormals(event, new RandomBits(seededNoise('mask')));
      expect(Math.abs(drawn[0]! / expected - 1)).toBeLessThan(2 ** -22);
    }
  });
});

/** The root of it is what the laws are of. */
function ofNormals(event: WishartMaskEvent | AffineMaskEvent, bits: RandomBits): number {
  if (event.kind === 'affine-mask') return (1 + event.spread * normalDouble(bits)) ** 2;
  let sum = 0;
  for (let draw = 0; draw < event.samples; draw++) sum += normalDouble(bits) ** 2;
  return sum / event.samples;
}
