import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { packageFile } from '../../server/base/place.js';
import { InvalidInputError } from '../../src/base/errors.js';

/**
 * The sample data of the demonstration. Every column has `count` numbers, in the order of the
 * source.
 */
export interface Flights {
  readonly count: number;
  readonly columns: {
    /** Minutes late; negative if early. */
    readonly delay: Float64Array;
    /** Miles flown. */
    readonly distance: Float64Array;
    /** Hour of the day, with the minutes as a fraction. */
    readonly time: Float64Array;
  };
}

/** A name that commands accept in place of a file. A file of that name is `./flights`. */
export const flightsName = 'flights';

/** The columns that commands show, by the names that studies use for them. */
export const flightsColumns: Readonly<Record<string, keyof Flights['columns']>> = {
  delay_minutes: 'delay', distance_miles: 'distance',
};

const magic = 'KLFLIGHT';
const headerBytes = 16;
const bytesPerFlight = 6;

/**
 * Reads data/flights.bin.br. data/README.md documents its layout.
 * @throws InvalidInputError if the file is missing or is not the one that the extraction wrote.
 */
export function loadFlights(path: URL = flightsFile()): Flights {
  const bytes = decompressed(readFileSync(path));
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 8) !== magic
      || bytes.readUInt32LE(8) !== 1) {
    throw new InvalidInputError(
      'data/flights.bin.br is not a flights file of version 1: install the package again',
    );
  }
  const count = bytes.readUInt32LE(12);
  if (bytes.length !== headerBytes + bytesPerFlight * count) {
    throw new InvalidInputError('data/flights.bin.br is cut short: install the package again', {
      expectedBytes: headerBytes + bytesPerFlight * count,
      bytes: bytes.length,
    });
  }
  const delay = new Float64Array(count);
  const distance = new Float64Array(count);
  const time = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    delay[index] = bytes.readInt16LE(headerBytes + 2 * index);
    distance[index] = bytes.readUInt16LE(headerBytes + 2 * (count + index));
    const minutes = bytes.readUInt16LE(headerBytes + 2 * (2 * count + index));
    time[index] = Math.floor(minutes / 60) + (minutes % 60) / 60;
  }
  return { count, columns: { delay, distance, time } };
}

function decompressed(file: Buffer): Buffer {
  try {
    return brotliDecompressSync(file);
  } catch {
    throw new InvalidInputError(
      'data/flights.bin.br cannot be decompressed: install the package again',
    );
  }
}

/** The package's own file. */
function flightsFile(): URL {
  const file = packageFile('data/flights.bin.br');
  if (!existsSync(file)) {
    throw new InvalidInputError('data/flights.bin.br is missing: run "npm run data:flights" '
      + 'or install the package again');
  }
  return file;
}
