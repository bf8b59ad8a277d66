import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parsePopulationsText, parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { RefusedStudy } from '../../server/studies/refused-study.js';
import { fromUtf8 } from '../../src/base/bytes.js';
import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';
import { asInputError } from './errors.js';

/** The contents of the study files on a command line. */
export interface StudyFiles {
  readonly studies: readonly StudyDefinition[];
  /** Files that hold no usable study, each with its reason. */
  readonly refused: readonly RefusedStudy[];
}

/**
 * Reads studies from files for a server. One bad file does not affect the others. If two studies
 * have the same name, both are refused. Paths in a file are relative to that file.
 * @param populations - file of the budgets that studies share; undefined if there is none. If it
 *   cannot be used, only the studies that name a population are refused.
 */
export function readStudyFiles(
  files: readonly string[], populations: string | undefined,
): StudyFiles {
  const { studies, refused } = readEach(files, populations);
  const names = studies.map(({ document }) => document.study);
  const filesOf = (name: string): readonly string[] =>
    studies.filter(({ document }) => document.study === name).map(({ file }) => file);
  const twice = [...new Set(names)].filter((name) => filesOf(name).length > 1);
  return {
    studies: studies.filter(({ document }) => !twice.includes(document.study)),
    refused: [
      ...refused, ...twice.map((study) => ({ study, error: givenTwice(study, filesOf(study)) })),
    ],
  };
}

function givenTwice(study: string, files: readonly string[]): KeelsonError {
  const where = new Set(files).size === 1
    ? `${files[0]!} is given ${files.length} times` : `${files.join(' and ')} both name it`;
  return new KeelsonError(
    'invalid-study',
    `the study ${study} is there twice: ${where}; give one file for each name`,
    { details: { study, files } },
  );
}

interface ReadStudy extends StudyDefinition {
  readonly file: string;
}

function readEach(
  files: readonly string[], populations: string | undefined,
): { readonly studies: readonly ReadStudy[]; readonly refused: readonly RefusedStudy[] } {
  const studies: ReadStudy[] = [];
  const refused: RefusedStudy[] = [];
  // Read only if a study names a population, so that the reason appears with that study.
  let read: ReturnType<typeof parsePopulationsText> | undefined;
  const readPopulations = (): typeof read => {
    if (populations !== undefined) {
      read ??= parsePopulationsText(readText(populations), populations);
    }
    return read;
  };
  for (const file of files) {
    try {
      studies.push({ file, ...parseStudyText(readText(file), {
        name: file,
        get populations() { return readPopulations(); },
        readText: (path) => readText(resolve(join(dirname(file), path)), keyListBytesMax),
      }) });
    } catch (error) {
      refused.push({
        study: file, error: error instanceof Error ? error : new Error(String(error)),
      });
    }
  }
  return { studies, refused };
}

/**
 * Like `readStudyFiles`, but every file must hold a study, and several may have the same name.
 * @throws the first reason: InvalidInputError if a file cannot be read, KeelsonError if its study
 *   cannot run.
 */
export function readStudies(
  files: readonly string[], populations: string | undefined,
): readonly StudyDefinition[] {
  if (populations !== undefined) parsePopulationsText(readText(populations), populations);
  const { studies, refused } = readEach(files, populations);
  if (refused.length > 0) throw refused[0]!.error;
  return studies;
}

/** Larger than any study or certificate. A list of a million keys has another limit. */
const fileBytesMax = 4 * 1024 * 1024;
const keyListBytesMax = 66 * 1024 * 1024;

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
