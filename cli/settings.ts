import { readFileSync } from 'node:fs';
import { readYaml } from '../server/study-file/yaml-text.js';
import { UsageError } from './errors.js';
import { pairsFlag } from './numbers.js';

/**
 * The parameters of `--set name=value`. A value `@file` is what the file holds, in JSON or YAML: for lists that are too
 * long for a command line.
 * @throws UsageError as `pairsFlag`, and when a file cannot be read.
 */
export function settingsFlag(texts: readonly string[], flag = '--set'): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(pairsFlag(texts, flag)).map(([name, value]) => {
    if (!value.startsWith('@')) return [name, value];
    const file = value.slice(1);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      throw new UsageError(`${flag} ${name}=${value}: the file cannot be read: check its name`, { flag });
    }
    return [name, readYaml(text, file).value];
  }));
}
