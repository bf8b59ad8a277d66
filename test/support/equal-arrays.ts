import { expect } from 'vitest';

const marked = globalThis as { keelsonEqualArrays?: true };

/**
 * Typed arrays of the same bytes are equal. Vitest compares them element by element with much work
 * for each, which took a third of some files. Where bytes differ, it compares and reports as ever.
 */
function sameBytes(left: unknown, right: unknown): true | undefined {
  if (!ArrayBuffer.isView(left) || !ArrayBuffer.isView(right)) return undefined;
  if (left.constructor !== right.constructor) return undefined;
  return Buffer.compare(bytesOf(left), bytesOf(right)) === 0 ? true : undefined;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

// Files of one worker share the list of testers: it gets this one once.
if (marked.keelsonEqualArrays === undefined) {
  marked.keelsonEqualArrays = true;
  expect.addEqualityTesters([sameBytes]);
}
