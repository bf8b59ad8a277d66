import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { memoryFolder } from '../memory-folder.js';

/**
 * A folder of keys for all stores of a test process: their names differ. Deleted when the
 * process ends.
 */
export const encryptionKeys = mkdtempSync(join(memoryFolder, 'keelson-row-keys-'));
process.on('exit', () => rmSync(encryptionKeys, { recursive: true, force: true }));
