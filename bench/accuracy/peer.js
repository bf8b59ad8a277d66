import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasPython, oneThread, ownFolder, projectPath } from '../harness/processes.js';

const python = '/usr/bin/python3';

/** The bytes of a .npy file of doubles, row after row. */
export function npyOf(values, dimension) {
  const shape = `(${values.length / dimension}, ${dimension})`;
  const text = `{'descr': '<f8', 'fortran_order': False, 'shape': ${shape}, }`;
  const header = text.padEnd(117) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  const body = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat([head, Buffer.from(header, 'latin1'), body]);
}

/**
 * The numpy reference for PRIME, if its script and numpy are on this machine.
 * @returns {{ missing: string } | { run(values, dimension, options): Promise<number[] | null> }}
 */
export async function openPeer(path = process.env.KEELSON_PEER ?? '') {
  if (path === '') {
    return { missing: 'the numpy peer is left out: name its script with --peer or KEELSON_PEER' };
  }
  const script = resolve(projectPath(''), path);
  if (!existsSync(script)) return { missing: `the numpy peer is left out: there is no ${script}` };
  if (!hasPython('numpy, scipy')) {
    return { missing: `the numpy peer is left out: ${python} has no numpy and scipy` };
  }
  const run = promisify(execFile);
  const file = join(ownFolder('accuracy'), 'rows.npy');
  return {
    place(values, dimension) {
      writeFileSync(file, npyOf(values, dimension));
    },
    async run({ corruption, epsilon, delta, seed }) {
      const args = [
        script, file, '--profile', 'sound', '--corruption', String(Math.max(corruption, 0.01)),
        '--epsilon', String(epsilon), '--delta', String(delta), '--seed', String(seed),
      ];
      const { stdout } = await run(python, args, { env: oneThread });
      return JSON.parse(stdout).estimate;
    },
  };
}
