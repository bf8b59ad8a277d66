import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { fromUtf8 } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { asInputError } from './errors.js';

/** Larger than any study or certificate. */
const fileBytesMax = 4 * 1024 * 1024;

/**
 * The text of a small file. Pipes and devices are refused: reading them may never start or never
 * end.
 * @throws InvalidInputError if it cannot be read, is not a regular file, is larger than
 *   `bytesMost`, or is not UTF-8.
 */
export function readText(path: string, bytesMost = fileBytesMax): string {
  const bytes = readSmallFile(path, bytesMost);
  try {
    return fromUtf8(bytes);
  } catch {
    throw new InvalidInputError(
      `${path} is not UTF-8 text: check the path, or save it so`, { path },
    );
  }
}

function readSmallFile(path: string, bytesMost: number): Uint8Array {
  return withFile(path, (descriptor, size) => {
    if (size <= bytesMost) return readFileSync(descriptor);
    throw new InvalidInputError(
      `${path}: the file has ${size} bytes, and at most ${bytesMost} are read: check the path`,
      { path },
    );
  });
}

/**
 * Opens a regular file, reads from it and closes it.
 * @param read - gets the descriptor and the file's size in bytes.
 * @throws InvalidInputError if it cannot be read, or is a folder, a pipe or a device.
 */
export function withFile<Result>(
  path: string, read: (descriptor: number, size: number) => Result,
): Result {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isFile()) return read(descriptor, stat.size);
    const remedy = stat.isDirectory()
      ? 'it is a folder: name a file in it' : 'it is a pipe or a device: save it as a file';
    throw new InvalidInputError(`${path}: ${remedy}`, { path });
  } catch (error) {
    throw asInputError(error, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
