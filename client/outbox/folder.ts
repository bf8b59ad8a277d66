import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a created or renamed file's name durable. Some systems cannot open a folder and keep names
 * durable themselves.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r').catch(() => null);
  if (folder === null) return;
  await folder.sync().catch(() => undefined);
  await folder.close();
}
