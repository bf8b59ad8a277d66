import { readFileSync } from 'node:fs';

/** From package.json, in the folder above server/ or above dist/server/. */
export function packageVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      const found = JSON.parse(text) as { name?: string; version?: string };
      if (found.name === 'keelson' && found.version !== undefined) return found.version;
    } catch {
      // Not found: tries the next place.
    }
  }
  return 'unknown';
}
