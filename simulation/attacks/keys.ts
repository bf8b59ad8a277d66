import type { AttackContext, RowAttack } from './contract.js';

/** Most rows that a contributor makes of its own. */
const rowsMost = 4_096;

/** The columns that hold names, and how many names each has. */
function namedColumns({ names = [] }: AttackContext): readonly (readonly [number, number])[] {
  return names.flatMap((count, column) => (count === null ? [] : [[column, count] as const]));
}

/** Sets the name columns of the row at `from` to the key of this number: all keys in turn. */
function setKey(
  rows: Float64Array, from: number, named: readonly (readonly [number, number])[], key: number,
): void {
  let rest = key;
  for (const [column, count] of named) {
    rows[from + column] = rest % count;
    rest = Math.floor(rest / count);
  }
}

const keysOf = (named: readonly (readonly [number, number])[]): number =>
  named.reduce((product, [, count]) => product * count, 1);

/**
 * Each sends a row for as many keys as it can, from a key of its own on. A question that is split
 * by keys counts it under `groupsMax` of them.
 */
export const ballotStuffing: RowAttack = {
  name: 'ballot-stuffing',
  title: 'each sends a row under as many names as it can; tests that it counts under a few only',
  defaultStrength: 1,
  apply(rows, context) {
    const { columns, own, rowsMax = rows.length / columns } = context;
    const named = namedColumns(context);
    const keys = keysOf(named);
    const count = named.length === 0
      ? rows.length / columns : Math.min(rowsMax, Math.max(keys, rows.length / columns), rowsMost);
    const first = Math.floor(own.uniform() * keys);
    const sent = new Float64Array(count * columns);
    for (let row = 0; row < count; row++) {
      const from = row * columns;
      sent.set(rows.subarray(from % rows.length, from % rows.length + columns), from);
      setKey(sent, from, named, (first + row) % keys);
    }
    return sent;
  },
};

/** All send one agreed key, with numbers far out: enough to reach every cap. */
export const heavyHitterPoisoning: RowAttack = {
  name: 'heavy-hitter-poisoning',
  title: 'all send one agreed name with huge numbers; tests how far one name can be pushed',
  defaultStrength: 1e6,
  apply(rows, context) {
    const { columns, centre, spread, strength, shared } = context;
    const named = namedColumns(context);
    const key = Math.floor(shared.fork('key').uniform() * keysOf(named));
    const pushed = rows.map((_, i) =>
      centre[i % columns]! + strength * spread[i % columns]!);
    for (let from = 0; from < pushed.length; from += columns) setKey(pushed, from, named, key);
    return pushed;
  },
};

/** A row with the key of this number: invented names where they can be, else listed ones. */
function forgedRow(
  rows: Float64Array, row: number, key: number, context: AttackContext,
): Float64Array {
  const { columns, names = [], invented = [] } = context;
  const from = (row * columns) % rows.length;
  return rows.slice(from, from + columns).map((value, column) => {
    const listed = names[column] ?? null;
    if (listed === null) return value;
    const more = invented[column] ?? 0;
    return more > 0 ? listed + (key % more) : key % listed;
  });
}

/** The row-major rows of these keys, one each. */
function forgedRows(
  rows: Float64Array, context: AttackContext, keys: readonly number[],
): Float64Array {
  return Float64Array.from(keys.flatMap((key, row) => [...forgedRow(rows, row, key, context)]));
}

/** Numbers of keys. They are large enough for every column to have names of its own. */
const keyNumbers = 2 ** 31;

/** All send the same keys that no honest contributor has, as many keys as the strength states. */
export const forgeKeys: RowAttack = {
  name: 'forge-groups',
  title: 'all send one agreed name that nobody else has; tests how many people a forged name needs',
  defaultStrength: 1,
  apply(rows, context) {
    const { columns, strength, shared } = context;
    const draw = shared.fork('forged keys');
    const keys = Array.from({ length: Math.max(1, Math.round(strength)) }, () =>
      Math.floor(draw.uniform() * keyNumbers));
    const count = rows.length / columns;
    return forgedRows(rows, context, Array.from({ length: count }, (_, row) =>
      keys[row % keys.length]!));
  },
};

/** Each sends as many keys of its own as it can, so that there is no room for those of others. */
export const evictKeys: RowAttack = {
  name: 'evict-groups',
  title: 'each sends as many new names as it can; tests that names of others are never pushed out',
  defaultStrength: 1,
  apply(rows, context) {
    const { columns, own, rowsMax = rows.length / columns } = context;
    const count = Math.max(rows.length / columns, Math.min(rowsMax, rowsMost));
    return forgedRows(rows, context, Array.from({ length: count }, () =>
      Math.floor(own.uniform() * keyNumbers)));
  },
};
