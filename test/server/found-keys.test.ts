import { describe, expect, it } from 'vitest';
import { publishable } from '../../server/epochs/outcome.js';
import type { ValueOutcome } from '../../src/base/outcome.js';

const valueOf = (keys: number | null, entries = keys ?? 1): ValueOutcome => ({
  kind: 'value',
  estimate: new Array<number>(entries).fill(50),
  shape: [entries],
  ...(keys !== null && { groups: Array.from({ length: keys }, (_, i) => [`key ${i}`]) }),
  uncertainty: { kind: 'none' },
});

describe('an answer with keys that were found', () => {
  const plan = { outputShape: [3], findsKeys: true } as const;

  it('may have fewer keys than planned, and one at least', () => {
    for (const keys of [1, 2, 3]) expect(publishable(valueOf(keys), plan)).toEqual(valueOf(keys));
    for (const bad of [valueOf(4), valueOf(0), valueOf(null), valueOf(2, 3), valueOf(3, 2)]) {
      expect(publishable(bad, plan)).toMatchObject({ kind: 'refused' });
    }
  });

  it('may be keys alone where that was planned, and nowhere else', () => {
    const alone = { ...valueOf(2), estimate: [], shape: [2, 0] };
    expect(publishable(alone, { ...plan, outputShape: [3, 0] })).toEqual(alone);
    expect(publishable(alone, plan)).toMatchObject({ kind: 'refused' });
    expect(publishable(valueOf(2), { ...plan, outputShape: [3, 0] }))
      .toMatchObject({ kind: 'refused' });
  });

  it('has all keys where they are listed', () => {
    expect(publishable(valueOf(3), { outputShape: [3] })).toEqual(valueOf(3));
    expect(publishable(valueOf(2), { outputShape: [3] })).toMatchObject({ kind: 'refused' });
  });
});
