import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadFlights } from '../../cli/data/flights.js';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

const scratch = scratchFolder('flights');

const unpacked = (path: string): Buffer => brotliDecompressSync(readFileSync(path));
const quickly = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('the sample data', () => {
  it('is what the extraction packs from the installed package', { tags: ['slow'] }, () => {
    const again = join(scratch, 'again.bin.br');
    execFileSync(process.execPath, ['scripts/extract-flights.js', again], { cwd: root });
    // The compressor of another version of Node may choose other bytes.
    expect(unpacked(again).equals(unpacked(`${root}data/flights.bin.br`))).toBe(true);
  });

  it('is read back without loss', () => {
    const flights = loadFlights();
    const source = JSON.parse(
      readFileSync(`${root}node_modules/vega-datasets/data/flights-200k.json`, 'utf8'),
    ) as { delay: number; distance: number; time: number }[];
    expect(flights.count).toBe(231_083);
    const differing = source.findIndex((flight, index) =>
      flight.delay !== flights.columns.delay[index]
        || flight.distance !== flights.columns.distance[index]
        || flight.time !== flights.columns.time[index]);
    expect(differing).toBe(-1);
    expect(source.length).toBe(flights.count);
  });

  it('is refused when cut short or of another kind', () => {
    const file = readFileSync(`${root}data/flights.bin.br`);
    const load = (bytes: Buffer) => () => {
      const path = join(scratch, 'broken.bin.br');
      writeFileSync(path, bytes);
      return loadFlights(pathToFileURL(path));
    };
    expect(load(file.subarray(0, file.length - 1))).toThrow('cannot be decompressed');
    expect(load(Buffer.from('something else'))).toThrow('cannot be decompressed');
    const bytes = brotliDecompressSync(file);
    expect(load(quickly(bytes.subarray(0, bytes.length - 1)))).toThrow('cut short');
    expect(load(quickly(Buffer.from('something else that is long enough'))))
      .toThrow('not a flights file');
  });
});
