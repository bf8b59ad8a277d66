import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * Writes a .npy file of doubles, block by block: standard normal rows. A share of them is moved to
 * (1.5, ..., 1.5). The same seed gives the same file.
 */
export function writeCrowd(path, { rows, dimension, corruption = 0.05, seed = 1 }) {
  let state = seed >>> 0;
  const uniform = () => {
    // A Weyl sequence and a mixing function. That is enough for rows of which only the time is
    // measured.
    state = (state + 0x9e3779b9) >>> 0;
    let word = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return ((word ^ (word >>> 16)) >>> 0) / 2 ** 32;
  };
  const hostile = Math.floor(corruption * rows);
  const text = `{'descr': '<f8', 'fortran_order': False, 'shape': (${rows}, ${dimension}), }`
    .padEnd(117) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(text.length, 8);
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([head, Buffer.from(text, 'latin1')]));
  const blockRows = 4096;
  const block = new Float64Array(blockRows * dimension);
  for (let first = 0; first < rows; first += blockRows) {
    const count = Math.min(blockRows, rows - first);
    for (let i = 0; i < count * dimension; i += 2) {
      const [length, turn] = [Math.sqrt(-2 * Math.log(1 - uniform())), 2 * Math.PI * uniform()];
      block[i] = length * Math.cos(turn);
      if (i + 1 < block.length) block[i + 1] = length * Math.sin(turn);
    }
    const moved = Math.max(0, Math.min(count, hostile - first)) * dimension;
    for (let i = 0; i < moved; i++) block[i] += 1.5;
    writeSync(file, new Uint8Array(block.buffer, 0, 8 * count * dimension));
  }
  closeSync(file);
}
