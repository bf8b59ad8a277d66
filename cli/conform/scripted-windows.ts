import type { WireCode } from '../../src/base/error-codes.js';
import { retryableWireCodes } from '../../src/base/error-codes.js';
import type { BatchBody, Ready } from '../../src/wire/index.js';

interface Window {
  contiguous: bigint;
  readonly settled: Map<bigint, { readonly digest: string; readonly code: WireCode | null }>;
}

/** The sequences of the contributors of a scripted server: the rules of the store, in short. */
export class ScriptedWindows {
  private readonly windows = new Map<string, Window>();
  /** The digest of each body by key and sequence. */
  private readonly bodies = new Map<string, string>();

  /** @param contributor its key, hexadecimal. */
  of(contributor: string): Window {
    const found = this.windows.get(contributor) ?? { contiguous: 0n, settled: new Map() };
    this.windows.set(contributor, found);
    return found;
  }

  /** The next sequence of a key and the free ones below it, as Ready states them. */
  free(contributor: string): Pick<Ready, 'nextSequence' | 'holes'> {
    const { settled, contiguous } = this.of(contributor);
    const next = [...settled.keys()].reduce((max, one) => (one > max ? one : max), 0n) + 1n;
    const holes: bigint[] = [];
    for (let i = contiguous + 1n; i < next; i++) if (!settled.has(i)) holes.push(i);
    return { nextSequence: next, holes };
  }

  /** True if the key has used the sequence for another body. */
  isReused(contributor: string, sequence: bigint, digest: string): boolean {
    const name = `${contributor} ${sequence}`;
    const before = this.bodies.get(name) ?? digest;
    this.bodies.set(name, before);
    return before !== digest;
  }

  /**
   * The verdict on a batch: null if it counts.
   * @param judge asked once for each sequence that is not settled. A retryable code leaves it free.
   * @param take called for a batch that counts, once.
   */
  settle(
    contributor: string, body: BatchBody, digest: string,
    judge: (body: BatchBody) => WireCode | null, take: () => void,
  ): WireCode | null {
    const window = this.of(contributor);
    const before = window.settled.get(body.sequence);
    if (before !== undefined) return before.digest === digest ? before.code : 'mutated';
    if (body.sequence > window.contiguous + 64n) return 'sequence-too-far';
    const code = judge(body);
    if (code !== null && retryableWireCodes.has(code)) return code;
    window.settled.set(body.sequence, { digest, code });
    while (window.settled.has(window.contiguous + 1n)) window.contiguous += 1n;
    if (code === null) take();
    return code;
  }
}
