import { InvalidInputError } from '../../src/base/errors.js';
import { UsageError } from './errors.js';
import { pairsFlag } from './numbers.js';
import { readText } from './text-files.js';

/**
 * The parameters of `--set name=value`. For the value `@file` it reads the file, in JSON or YAML.
 * That is for lists that are too long for a command line.
 * @throws UsageError as `pairsFlag`, and if no file name follows `@`; InvalidInputError if a file
 *   cannot be read or is empty.
 */
export async function settingsFlag(
  texts: readonly string[], flag = '--set',
): Promise<Readonly<Record<string, unknown>>> {
  const found: [string, unknown][] = [];
  for (const [name, value] of Object.entries(pairsFlag(texts, flag))) {
    found.push([name, value.startsWith('@') ? await heldIn(value.slice(1), name, flag) : value]);
  }
  return Object.fromEntries(found);
}

async function heldIn(file: string, name: string, flag: string): Promise<unknown> {
  if (file === '') {
    throw new UsageError(
      `${flag} ${name}=@ names no file: write ${flag} ${name}=@FILE`, { flag },
    );
  }
  // Loaded when needed, so that other commands start fast.
  const { readYaml } = await import('../../server/study-file/yaml-text.js');
  const held = readYaml(readText(file), file).value;
  if (held !== null && held !== undefined) return held;
  // It would count as missing, and the default would be used.
  throw new InvalidInputError(
    `${file} holds no value for ${name}: write one, or leave ${flag} out`, { path: file },
  );
}
