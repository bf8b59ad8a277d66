import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder of a test file's own, which is removed after its tests. */
export function scratchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `keelson-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A writer of files into such a folder: each has a new name, and its path is returned. */
export function scratchFiles(name: string): (ending: string, bytes: string | Uint8Array) => string {
  const folder = scratchFolder(name);
  let files = 0;
  return (ending, bytes) => {
    const path = join(folder, `${files += 1}${ending}`);
    writeFileSync(path, bytes);
    return path;
  };
}
