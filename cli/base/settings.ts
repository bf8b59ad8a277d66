import { readYaml } from '../../server/study-file/yaml-text.js';
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
export function settingsFlag(
  texts: readonly string[], flag = '--set',
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(pairsFlag(texts, flag)).map(([name, value]) => {
    if (!value.startsWith('@')) return [name, value];
    const file = value.slice(1);
    if (file === '') throw new UsageError(
      `${flag} ${name}=@ names no file: write ${flag} ${name}=@FILE`, { flag },
    );
    const held = readYaml(readText(file), file).value;
    if (held !== null && held !== undefined) return [name, held];
    // It would count as missing, and the default would be used.
    throw new InvalidInputError(
      `${file} holds no value for ${name}: write one, or leave ${flag} out`, { path: file },
    );
  }));
}
