import { describe, expect, it } from 'vitest';
import { forms, nameOf, relationNames, type Form, type RelationName } from './forms.js';
import { baseOf, relations, type Extent } from './relations.js';
import { pageOfRelations } from './table.js';

const [least, most] = [-15, 15];
const every = (step: number): number[] =>
  Array.from({ length: Math.floor((most - least) / step) + 1 }, (_, i) => least + i * step);

/** Relations of the part that runs in `npm test`, and how far. */
const quick: readonly RelationName[] = [
  'all columns times a power of two', 'shifted by up to 1e15', 'zeros with a sign',
];

function extentOf({ isHeavy }: Form, name: RelationName): Extent {
  const isExact = name === 'all columns times a power of two';
  if (isHeavy) return { powers: isExact ? [least, -4, most] : [least, most] };
  return { powers: every(isExact ? 1 : 3) };
}

/** The answer that relations compare with: without one they would hold whatever was released. */
async function answerOf(form: Form): ReturnType<typeof baseOf> {
  const base = await baseOf(form);
  expect(base).toMatchObject({ kind: 'value' });
  return base;
}

for (const form of forms) {
  describe(nameOf(form), { tags: ['slow'] }, () => {
    let base: ReturnType<typeof baseOf> | undefined;
    for (const name of relationNames) {
      if (form.exempt[name] !== undefined) continue;
      it(name, async () => {
        base ??= answerOf(form);
        expect(await relations[name](form, await base, extentOf(form, name))).toBeNull();
      });
    }
  });
}

describe('the relations of every estimator', () => {
  it.each(forms.filter(({ isHeavy }) => !isHeavy).map((form) => [nameOf(form), form] as const))(
    'hold at the ends: %s', { tags: ['long'] }, async (_, form) => {
      const base = await answerOf(form);
      for (const name of quick) {
        if (form.exempt[name] !== undefined) continue;
        expect(`${name}: ${await relations[name](form, base, { powers: [least, most] })}`)
          .toBe(`${name}: null`);
      }
    },
  );

  it('are on a page', async () => {
    await expect(pageOfRelations()).toMatchFileSnapshot('../../docs/results/relations.md');
  });
});
