/** Different texts that are remembered, and their bytes together. */
const textsMax = 4096;
const bytesMax = 1 << 16;
/** Places of a table of hashes: a power of two, at most half of which is taken. */
const places = 2 * textsMax;

/**
 * Texts of ids and of groups by their bytes: one that comes again is not made again. Where there
 * are many different ones, the later ones are made each time.
 */
export class KnownTexts {
  /** By hash: the number of the text, from 1. */
  readonly #byHash = new Uint16Array(places);
  readonly #texts: string[] = [];
  /** The bytes of all texts, and where each begins. */
  readonly #bytes = new Uint8Array(bytesMax);
  readonly #starts = new Uint32Array(textsMax + 1);

  /** @param make - the text of some bytes; empty: these are not remembered. */
  constructor(private readonly make: (bytes: Buffer, from: number, to: number) => string) {}

  textOf(bytes: Buffer, from: number, to: number): string {
    let hash = to - from;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01_00_01_93);
    let place = (hash ^ (hash >>> 15)) & (places - 1);
    for (let known = this.#byHash[place]!; known !== 0; known = this.#byHash[place]!) {
      if (this.#isText(known - 1, bytes, from, to)) return this.#texts[known - 1]!;
      place = (place + 1) & (places - 1);
    }
    const text = this.make(bytes, from, to);
    if (text !== '') this.#remember(text, place, bytes.subarray(from, to));
    return text;
  }

  #isText(text: number, bytes: Buffer, from: number, to: number): boolean {
    const start = this.#starts[text]!;
    if (this.#starts[text + 1]! - start !== to - from) return false;
    for (let at = from, own = start; at < to; at++, own++) {
      if (bytes[at] !== this.#bytes[own]) return false;
    }
    return true;
  }

  #remember(text: string, place: number, bytes: Uint8Array): void {
    const known = this.#texts.length;
    const start = this.#starts[known]!;
    if (known === textsMax || start + bytes.length > bytesMax) return;
    this.#bytes.set(bytes, start);
    this.#starts[known + 1] = start + bytes.length;
    this.#byHash[place] = this.#texts.push(text);
  }
}
