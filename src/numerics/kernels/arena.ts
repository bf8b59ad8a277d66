import { InvariantError } from '../../base/errors.js';
import { moduleText } from './generated/module.js';

type Pass = (...numbers: number[]) => number;

/**
 * The exports of the compiled module. Pointers count bytes. See assembly/rows.ts, gram.ts,
 * counts.ts, pairs.ts, scores.ts, eigen.ts, proofs.ts and snappy.ts.
 */
export interface Exports {
  readonly gather: Pass;
  readonly packRows: Pass;
  readonly packWide: Pass;
  readonly addGram: Pass;
  readonly addProduct: Pass;
  readonly rowProducts: Pass;
  readonly addColumnSums: Pass;
  readonly clipRows: Pass;
  readonly scoreRows: Pass;
  readonly countScores: Pass;
  readonly takeBinned: Pass;
  readonly countBins: Pass;
  readonly countCells: Pass;
  readonly countDistances: Pass;
  readonly countSides: Pass;
  readonly keepSmallest: Pass;
  readonly eigen: Pass;
  readonly snappyParts: Pass;
  readonly andPatterns: Pass;
  readonly addByPattern: Pass;
  readonly addPatternProducts: Pass;
  readonly foldPatterns: Pass;
  readonly pointsOfPatterns: Pass;
  readonly pointsOfFour: Pass;
  readonly pointsOfMany: Pass;
  readonly foldVector: Pass;
  readonly addProducts: Pass;
  readonly addMultiples: Pass;
  readonly addInnerProduct: Pass;
}

/** The part of WebAssembly that Node and browsers share. TypeScript's own declarations lack it. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface Platform {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/** Stretches of `count` places, of at most `most`: what kernels take into the arena at once. */
export function* blocksOf(
  count: number, most: number,
): Generator<readonly [from: number, end: number]> {
  for (let from = 0; from < count; from += most) yield [from, Math.min(count, from + most)];
}

const pageBytes = 65_536;
let compiled: object | null = null;

/**
 * An instance of the module and its memory. A kernel calls `layout` with the length of each of its
 * parts and gets the parts as views. They are valid until the next layout.
 */
export class Arena {
  readonly exports: Exports;
  readonly #memory: Memory;
  readonly #base: number;

  constructor() {
    const { WebAssembly: platform } = globalThis as unknown as { readonly WebAssembly?: Platform };
    if (platform === undefined) {
      throw new InvariantError('this platform has no WebAssembly; Node 20 and browsers do');
    }
    compiled ??=
      new platform.Module(Uint8Array.from(atob(moduleText), (letter) => letter.charCodeAt(0)));
    const { exports } = new platform.Instance(compiled);
    const found = exports as Exports & { readonly memory: Memory; heapBase(): number };
    this.exports = found;
    this.#memory = found.memory;
    this.#base = found.heapBase();
  }

  /**
   * Views of `lengths` doubles with arbitrary contents. The pointer of a part is its byteOffset.
   */
  layout<const Lengths extends readonly number[]>(
    ...lengths: Lengths
  ): { [K in keyof Lengths]: Float64Array } {
    let top = this.#base;
    const places = lengths.map((length) => {
      const place = top;
      top += Math.ceil(length / 8) * 64;
      return place;
    });
    const missing = top - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / pageBytes));
    const parts =
      places.map((place, i) => new Float64Array(this.#memory.buffer, place, lengths[i]));
    return parts as unknown as { [K in keyof Lengths]: Float64Array };
  }
}
