// Measured errors, one JSON line for each cell, attack and seed, so that a table can be made in
// pieces and resumed.
import { appendFileSync } from 'node:fs';
import { readLines } from '../harness/pages.js';

const keys = [
  'rows', 'dimension', 'contributors', 'corruption', 'epsilon', 'delta', 'attack', 'seed',
];
const keyOf = (at) => keys.map((key) => at[key]).join(' ');

/**
 * Reads files of results. Without a file it keeps results in memory only. Lines of the same cell,
 * attack and seed are merged.
 * @param file - it appends line by line, so an interrupted run loses only the present seed.
 * @param others - files that it also reads.
 */
export function openResults(file, ...others) {
  const byKey = new Map();
  const keep = (line) => {
    const known = byKey.get(keyOf(line));
    if (known === undefined) byKey.set(keyOf(line), line);
    else Object.assign(known.errors, line.errors);
  };
  for (const one of [file, ...others]) {
    if (one !== undefined) for (const line of readLines(one)) keep(line);
  }
  return {
    get lines() {
      return [...byKey.values()];
    },
    errorsAt: (at) => byKey.get(keyOf(at))?.errors ?? {},
    add(at, errors) {
      const rounded = Object.fromEntries(Object.entries(errors).map(([method, error]) =>
        [method, typeof error === 'number' ? Number(error.toPrecision(4)) : error]));
      const line = { ...Object.fromEntries(keys.map((key) => [key, at[key]])), errors: rounded };
      keep(line);
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
  };
}
