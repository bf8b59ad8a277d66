import type { ListenerLimits } from '../network/options.js';

export type StrikeKind = 'malformed' | 'badSignature' | 'stray' | 'hastySubscribe';

export interface StrikeVerdict {
  /** The WebSocket close code. */
  readonly code: number;
  readonly reason: string;
}

/**
 * Counts faults that an honest client makes only by accident. Reports when a socket made too many.
 */
export class Strikes {
  readonly #counts: Record<StrikeKind, number> = {
    malformed: 0, badSignature: 0, stray: 0, hastySubscribe: 0,
  };

  constructor(private readonly limits: ListenerLimits) {}

  count(kind: StrikeKind): StrikeVerdict | undefined {
    this.#counts[kind] += 1;
    const { limits } = this;
    switch (kind) {
      case 'malformed':
        return this.#past(
          kind, limits.malformedFramesPerSocket, 1002, 'malformed frames',
        );
      case 'badSignature':
        return this.#past(kind, limits.badSignaturesPerSocket, 1008, 'bad signatures');
      case 'stray':
        return this.#past(
          kind, limits.strayFramesPerSocket, 1008, 'batches past the credit or without a channel',
        );
      case 'hastySubscribe':
        return this.#past(
          kind, limits.hastySubscribesPerSocket, 1008, 'Subscribes or Unsubscribes too soon',
        );
    }
  }

  #past(kind: StrikeKind, max: number, code: number, what: string): StrikeVerdict | undefined {
    return this.#counts[kind] < max ? undefined : { code, reason: `${this.#counts[kind]} ${what}` };
  }
}
