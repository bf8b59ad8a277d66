import { assert } from '../../base/assert.js';
import type { Compute } from './estimator.js';

/**
 * Heavy deterministic functions by name, so that a pool of workers can run them. Input and output
 * can be cloned.
 */
export type Kernels = Readonly<Record<string, (input: unknown) => unknown>>;

/** Runs kernels where it stands: for tests, browsers and offline runs. */
export function inlineCompute(kernels: Kernels = {}): Compute {
  return {
    parallelism: 0,
    async run<Output>(kernel: string, input: unknown): Promise<Output> {
      const found = Object.hasOwn(kernels, kernel) ? kernels[kernel] : undefined;
      assert(found !== undefined, 'a kernel is registered before it is run');
      return found(input) as Output;
    },
  };
}
