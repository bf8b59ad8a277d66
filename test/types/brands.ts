import type { Released, Sensitive } from '../../src/base/brands.js';
import { Released as ReleasedClass, Sensitive as SensitiveClass } from '../../src/base/brands.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededRandom } from '../../src/random/work.js';
import type { NoiseSource, WorkRandom } from '../../src/random/source.js';

// Checked by `npm run types`: every marked line must be a compile error, or the check itself fails.

declare function publish(outcome: Released<Outcome>): void;
declare const outcome: Outcome;
declare const rows: Sensitive<RowBlock>;
declare const summary: Sensitive<Outcome>;
declare const mean: Released<Float64Array>;
declare const work: WorkRandom;
declare const noise: NoiseSource;

export function leaks(): void {
  // @ts-expect-error A sensitive value cannot be published.
  publish(summary);
  // @ts-expect-error Nor can a plain one that no mechanism drew.
  publish(outcome);
  // @ts-expect-error Nor an object that looks like a release.
  publish({ value: outcome, map: () => summary });
  // @ts-expect-error A transformed sensitive value stays sensitive.
  publish(rows.map(() => outcome));
  // @ts-expect-error A sensitive value has nothing to read.
  void rows.value;
  // @ts-expect-error A release is not made by hand.
  void new ReleasedClass(outcome);
  // @ts-expect-error Nor is a sensitive value opened by unwrapping its constructor.
  void new SensitiveClass(outcome);
  publish(mean.map(() => outcome));
}

export function confusesRandomness(): void {
  // @ts-expect-error Work randomness is not noise.
  createMechanisms([], work);
  // @ts-expect-error Nor when it is freshly seeded.
  createMechanisms([], seededRandom(new Uint8Array(32)));
  // @ts-expect-error Noise is not replayable work.
  const replayed: WorkRandom = noise;
  void replayed;
  createMechanisms([], noise);
}

export function skipsMechanisms(): void {
  const mechanisms = createMechanisms([], noise);
  // @ts-expect-error Values enter a mechanism wrapped.
  mechanisms.gaussian('x', new Float64Array(1));
  // @ts-expect-error A released value is not fed back as a sensitive one.
  mechanisms.gaussian('x', mean);
}
