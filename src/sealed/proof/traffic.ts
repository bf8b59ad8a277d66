import { after, before, servers, type ServerIndex } from '../shares/body.js';
import type { CountedProofs, SentWords } from '../steps/traffic.js';
import {
  andChunksMost, andWordsMost, digestWords, factorsMost, foldsFor, halfSeedBytes,
} from './chunks.js';

const elementWords = 2;

/** Counts what `ChunkedProofs` sends, from public sizes alone. */
export class ProofTraffic implements CountedProofs {
  /** Words of each chunk of ands. */
  #ands = [0];
  /** Numbers in the left side of each prover's statements. */
  #factors: [number, number, number] = [0, 0, 0];

  noteAnds(words: number, send: SentWords): void {
    for (let left = words; left > 0;) {
      if (this.#ands.at(-1)! === andWordsMost) this.#ands.push(0);
      const taken = Math.min(left, andWordsMost - this.#ands.at(-1)!);
      this.#ands[this.#ands.length - 1]! += taken;
      left -= taken;
      const isFull = this.#ands.at(-1)! === andWordsMost;
      if (this.#ands.length === andChunksMost && isFull) this.verify(send);
    }
  }

  noteNumbers(provers: readonly ServerIndex[], factors: number, send: SentWords): void {
    for (const prover of provers) this.#factors[prover] += factors;
    if (this.#factors.reduce((sum, each) => sum + each, 0) >= factorsMost) this.verify(send);
  }

  verify(send: SentWords): void {
    /** The fan-ins of each prover, chunk by chunk. */
    const chunks = this.#ands.filter((words) => words > 0)
      .map((words) => servers.map(() => foldsFor(words, 0)));
    if (this.#factors.some((factors) => factors > 0)) {
      chunks.push(this.#factors.map((factors) => foldsFor(0, factors)));
    }
    this.#ands = [0];
    this.#factors = [0, 0, 0];
    if (chunks.length === 0) return;
    const both = (words: number): void => send(servers.flatMap((from) =>
      [[from, before(from), words], [from, after(from), words]]));
    both((halfSeedBytes / 4) * chunks.length);
    const most = Math.max(...chunks.flat().map(({ length }) => length));
    const isLast = (fans: readonly number[], fold: number): boolean => fold === fans.length - 1;
    for (let fold = 0; fold < most; fold++) {
      send(servers.flatMap((prover) => {
        const own = chunks.map((folds) => folds[prover]!);
        const digests = digestWords * own.filter((fans) => isLast(fans, fold)).length;
        const elements = own.reduce((sum, fans) =>
          sum + (fold < fans.length ? elementWords * (2 * fans[fold]! - 2) : 0), 0);
        return [[prover, after(prover), elements + digests], [prover, before(prover), digests]];
      }));
      if (fold === most - 1) break;
      send(servers.map((prover) => [
        after(prover), prover,
        elementWords * chunks.filter((folds) => fold < folds[prover]!.length - 1).length,
      ]));
    }
    both(2 * elementWords * chunks.length);
  }
}
