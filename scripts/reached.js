import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './generated.js';

/**
 * The files that `entries` import, and what these import, with the entries.
 * @param entries - modules or declarations, as paths from the project's folder.
 * @param imports - the `imports` of the package, for names that begin with #.
 * @param read - gives the text of a file.
 */
export function reached(
  entries, imports = {}, read = (file) => readFileSync(join(root, file), 'utf8'),
) {
  const files = new Set(entries);
  for (const file of files) {
    const text = read(file);
    const extension = file.endsWith('.d.ts') ? '.d.ts' : '.js';
    for (const [, name] of text.matchAll(/(?:\bfrom |\bimport\(|\bimport )['"]([.#][^'"]+)['"]/g)) {
      const found = name.startsWith('#')
        ? Object.values(imports[name]).map((path) => path.slice(2))
        : [join(dirname(file), name)];
      for (const path of found) files.add(path.replace(/\.js$/, extension));
    }
  }
  return [...files];
}
