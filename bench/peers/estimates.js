// What the numpy peers of peers.py answer.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npyOf } from '../accuracy/peer.js';

/** What epsilon 1 and delta 1e-6 are as zCDP: the cost of Keelson and of its peers. */
export const rho = 0.0244;

/** The numbers of steps of CoinPress that are tried. Nobody knows the best one beforehand. */
export const steps = [1, 2, 3, 4];

const script = fileURLToPath(new URL('peers.py', import.meta.url));

/** Whether this interpreter has numpy, which the peers need. */
export const hasNumpy = (python) => spawnSync(python, ['-c', 'import numpy']).status === 0;

let folder = null;
/** A folder for rows. It is deleted when the process ends. */
function ownFolder() {
  if (folder === null) {
    folder = mkdtempSync(join(tmpdir(), 'keelson-peers-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return folder;
}

/**
 * @param runs - [{ method, seed, ... }], see peers.py.
 * @returns a list of estimates, one for each run.
 */
export function estimatesOf(python, values, dimension, runs) {
  const file = join(ownFolder(), 'rows.npy');
  writeFileSync(file, npyOf(values, dimension));
  const text = execFileSync(python, [script], {
    input: JSON.stringify({ file, runs }), encoding: 'utf8', maxBuffer: 1e8,
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' },
  });
  return JSON.parse(text);
}
