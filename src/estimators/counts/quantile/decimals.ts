/**
 * The short numbers: those of three decimal digits, such as 3, 40, 0.25 or -12.5, of both signs,
 * and zero. Columns of ages, scores and numbers of things consist of them.
 */
const lowestDecade = -19;
const decades = 38;
/** The short numbers of one decade: 100 to 999. */
const inDecade = 900;
const oneSide = decades * inDecade;

/** How many there are. */
export const shortCount = 2 * oneSide + 1;

let table: Float64Array | null = null;

/** All of them, ascending. Made at the first use. */
function shortNumbers(): Float64Array {
  table ??= Float64Array.from({ length: shortCount }, (_, place) => {
    const side = place - oneSide;
    if (side === 0) return 0;
    const at = Math.abs(side) - 1;
    const decade = Math.floor(at / inDecade);
    const size = Number(`${at - decade * inDecade + 100}e${lowestDecade + decade - 2}`);
    return side < 0 ? -size : size;
  });
  return table;
}

/** The short number at a place, from 0 for the lowest. */
export function shortAt(place: number): number {
  return shortNumbers()[place]!;
}

/** The place of the largest short number that is not above a value; -1 for values below all. */
export function shortBelow(value: number): number {
  const numbers = shortNumbers();
  let [below, above] = [-1, numbers.length];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (numbers[middle]! <= value) below = middle;
    else above = middle;
  }
  return below;
}
