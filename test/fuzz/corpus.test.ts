import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { Bench, type KeptFrame } from '../support/fuzz/frames/corpus.js';

const kept = JSON.parse(
  readFileSync(new URL('corpus/frames.json', import.meta.url), 'utf8'),
) as readonly KeptFrame[];

describe('frames that were kept', () => {
  it('are answered as they were', async () => {
    const bench = await Bench.open();
    const answers: string[] = [];
    for (const { kind, hex } of kept) answers.push(await bench.outcome(kind, fromHex(hex)));
    await bench.close();
    const named = (outcomes: readonly string[]): string[] =>
      kept.map(({ recipe }, i) => `${i} ${recipe}: ${outcomes[i]!}`);
    expect(named(answers)).toEqual(named(kept.map(({ outcome }) => outcome)));
    expect(new Set(answers).size).toBeGreaterThan(8);
  });
});
