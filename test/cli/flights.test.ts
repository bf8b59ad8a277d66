import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadFlights } from '../../cli/data/flights.js';
import { root } from '../support/sources.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-flights-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the sample data', () => {
  it('is what the extraction packs from the installed package', { tags: ['long'] }, () => {
    const again = join(scratch, 'again.bin');
    execFileSync(process.execPath, ['scripts/extract-flights.js', again], { cwd: root });
    expect(readFileSync(again).equals(readFileSync(`${root}data/flights.bin`))).toBe(true);
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
    const bytes = readFileSync(`${root}data/flights.bin`);
    const short = join(scratch, 'short.bin');
    writeFileSync(short, bytes.subarray(0, bytes.length - 1));
    expect(() => loadFlights(pathToFileURL(short))).toThrow('cut short');
    const other = join(scratch, 'other.bin');
    writeFileSync(other, 'something else that is long enough');
    expect(() => loadFlights(pathToFileURL(other))).toThrow('not a flights file');
  });
});
