import { openSealed } from '../../base/wrappers.js';
import { andAll } from './adder.js';
import { number } from './convert.js';
import { and } from './multiply.js';
import type { Party } from './party.js';
import { rowsOfPlanes } from './planes.js';
import {
  eachComponent, joined, part, xorOf, type Bits, type Numbers,
} from './shares.js';
import { addInto, addScaledInto } from './words.js';

/**
 * 2^b planes from b planes: in each lane, the plane whose number the bits spell has the mask bit,
 * and all others have 0. b rounds; 2^b - 1 ands, since each level's other half is an exclusive or.
 * @param planes - lowest bit first.
 */
export async function oneHot(
  party: Party, planes: readonly Bits[], mask: Bits, words: number,
): Promise<readonly Bits[]> {
  let hot: readonly Bits[] = [mask];
  for (const plane of [...planes].reverse()) {
    const upper = await andAll(party, hot.map((one) => [one, plane] as const), words);
    hot = hot.flatMap((one, i) => [xorOf(one, upper[i]!), upper[i]!]);
  }
  return hot;
}

/** Rows of bits that are left when they are turned into numbers, or fewer. */
export const rowsAtEnd = 96;

/** Public sizes of a tally of planes, each of `words` words. */
export function tallyLayout(planes: number, words: number) {
  // Few planes are cut into stretches, so that the words of a row are full.
  const stretches = Math.max(1, Math.floor(32 / planes));
  const stretchWords = Math.ceil(words / stretches);
  const lanes = planes * stretches;
  const rowWords = Math.ceil(lanes / 32);
  return { stretches, stretchWords, lanes, rowWords, rows: 32 * stretchWords };
}

/**
 * How many lanes of each plane are 1. Contributors become rows of bits, one bit for each plane, and
 * rows are added by carry-save adders: three rows of one weight become one of this weight and one
 * of the next, at one `and` for each bit. The last 96 rows or fewer become numbers. Rounds:
 * log_1.5(lanes / 96) + 2.
 * @param planes - each of `words` words.
 * @returns a number for each plane.
 */
export async function tally(
  party: Party, planes: readonly Bits[], words: number,
): Promise<Numbers> {
  const { stretches, stretchWords, lanes, rowWords, rows: count } =
    tallyLayout(planes.length, words);
  const cut = planes.flatMap((plane) => Array.from({ length: stretches }, (_, i) =>
    eachComponent(plane, (component) => {
      const stretch = new Uint32Array(stretchWords);
      const from = Math.min(words, i * stretchWords);
      stretch.set(component.subarray(from, Math.min(words, from + stretchWords)));
      return stretch;
    })));
  const rows = eachComponent(joined(cut), (component) =>
    rowsOfPlanes(component, stretchWords, rowWords));
  const levels = await carrySaved(party, rows, count, rowWords);
  const numbers = await number(party, joined(levels.map(({ rows: left }) => left)));
  return eachComponent(numbers, (component) =>
    laneSums(component, levels, { lanes, stretches, rowWords }));
}

/** Rows of one weight. */
interface Level {
  readonly rows: Bits;
  readonly count: number;
  readonly weight: number;
}

async function carrySaved(
  party: Party, rows: Bits, count: number, rowWords: number,
): Promise<readonly Level[]> {
  let levels: readonly Level[] = [{ rows, count, weight: 1 }];
  for (;;) {
    const total = levels.reduce((sum, level) => sum + level.count, 0);
    const full = levels.filter((level) => level.count >= 3);
    if (total <= rowsAtEnd || full.length === 0) return levels;
    const triples = full.map((level) => {
      const third = Math.floor(level.count / 3) * rowWords;
      const [a, b, c] = [0, 1, 2].map((i) => part(level.rows, i * third, (i + 1) * third)) as
        [Bits, Bits, Bits];
      return { level, third, a, b, c, rest: part(level.rows, 3 * third, level.count * rowWords) };
    });
    // The majority of three bits is ((a xor c) and (b xor c)) xor c.
    const found = await and(
      party, joined(triples.map(({ a, c }) => xorOf(a, c))),
      joined(triples.map(({ b, c }) => xorOf(b, c))),
    );
    let at = 0;
    const added = triples.flatMap(({ level, third, a, b, c, rest }) => {
      const carries = xorOf(part(found, at, (at += third)), c);
      return [
        { rows: joined([xorOf(a, b, c), rest]), weight: level.weight },
        { rows: carries, weight: 2 * level.weight },
      ];
    });
    levels = byWeight(
      [...added, ...levels.filter((level) => level.count < 3)], rowWords,
    );
  }
}

function byWeight(
  added: readonly Pick<Level, 'rows' | 'weight'>[], rowWords: number,
): readonly Level[] {
  const weights = [...new Set(added.map(({ weight }) => weight))].sort((a, b) => a - b);
  return weights.map((weight) => {
    const rows =
      joined(added.filter((level) => level.weight === weight).map((level) => level.rows));
    return { rows, weight, count: lengthOf(rows) / rowWords };
  });
}

/** Words of a list of shares: public, as the steps are. */
function lengthOf(rows: Bits): number {
  return openSealed(rows).own.length;
}

/** Sums over rows, with their weights, and over the stretches of a plane. */
function laneSums(
  component: Uint32Array, levels: readonly Level[],
  { lanes, stretches, rowWords }: {
    readonly lanes: number; readonly stretches: number; readonly rowWords: number;
  },
): Uint32Array {
  const byLane = new Uint32Array(2 * lanes);
  let row = 0;
  for (const { count, weight } of levels) {
    const ofLevel = new Uint32Array(2 * lanes);
    for (let i = 0; i < count; i++, row++) {
      const from = 64 * rowWords * row;
      addInto(ofLevel, component.subarray(from, from + 2 * lanes));
    }
    addScaledInto(byLane, ofLevel, weight);
  }
  const sums = new Uint32Array((2 * lanes) / stretches);
  for (let lane = 0; lane < lanes; lane++) {
    const at = 2 * Math.floor(lane / stretches);
    addInto(sums.subarray(at, at + 2), byLane.subarray(2 * lane, 2 * lane + 2));
  }
  return sums;
}
