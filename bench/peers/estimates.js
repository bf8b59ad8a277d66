// Answers of the numpy peers in peers.py.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npyOf } from '../accuracy/peer.js';
import { oneThread, ownFolder, projectPath } from '../harness/processes.js';

/** Epsilon 1 and delta 1e-6 as zCDP: the cost of Keelson and of its peers. */
export const rho = 0.0244;

/** The numbers of steps of CoinPress that are tried. Nobody knows the best one beforehand. */
export const steps = [1, 2, 3, 4];

const script = projectPath('bench/peers/peers.py');

let folder = null;

/**
 * @param runs - [{ method, seed, ... }], see peers.py.
 * @returns a list of estimates, one for each run.
 */
export function estimatesOf(python, values, dimension, runs) {
  folder ??= ownFolder('peers');
  const file = join(folder, 'rows.npy');
  writeFileSync(file, npyOf(values, dimension));
  const text = execFileSync(python, [script], {
    input: JSON.stringify({ file, runs }), encoding: 'utf8', maxBuffer: 1e8,
    env: oneThread,
  });
  return JSON.parse(text);
}
