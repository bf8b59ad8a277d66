import { cpSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from './sources.js';

/** True if this Node has SQLite, as `server/store/sqlite/driver.ts` decides. */
export const hasSqlite = !process.versions.node.startsWith('20.');

/**
 * Gives an installation in `folder` what its user has to add to it on a Node without SQLite. This
 * clone compiled the same, and compiling it twice proves nothing more.
 */
export function addSqlite(folder: string): void {
  if (hasSqlite) return;
  const compiled = dirname(realpathSync(`${root}node_modules/better-sqlite3`));
  for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
    cpSync(`${compiled}/${name}`, `${folder}/node_modules/${name}`, { recursive: true });
  }
}
