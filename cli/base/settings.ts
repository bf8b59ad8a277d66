import { readYaml } from '../../server/study-file/yaml-text.js';
import { pairsFlag } from './numbers.js';
import { readText } from './study-files.js';

/**
 * The parameters of `--set name=value`. A value `@file` is what the file holds, in JSON or YAML: for lists that are too
 * long for a command line.
 * @throws UsageError as `pairsFlag`; InvalidInputError when a file cannot be read.
 */
export function settingsFlag(texts: readonly string[], flag = '--set'): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(pairsFlag(texts, flag)).map(([name, value]) => {
    if (!value.startsWith('@')) return [name, value];
    const file = value.slice(1);
    return [name, readYaml(readText(file), file).value];
  }));
}
