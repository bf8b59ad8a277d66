import { join } from 'node:path';
import { signing } from '#signing';
import { systemClock } from '../../server/base/clock.js';
import {
  rotateServerKey, serverSeedIn, type RotationStore,
} from '../../server/keys/key-rotation.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { isSecretThere } from '../../server/base/secret-files.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { keyFingerprint, keysOfRotation } from '../../src/signing/index.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import type { Output } from '../base/output.js';

export const keys = defineCommand({
  name: 'keys',
  summary: 'Show or change the key that an aggregator signs with.',
  details: [
    '"show" prints the public key of the data folder, and makes the key where there is none. The '
    + 'file of a sealed study needs it before the first start.',
    '"rotate" makes a new key for the data folder, and a record that the old and the new key both '
    + 'sign. It erases the old private key. Stop the aggregator first; the command is refused '
    + 'while it runs. From its next start, the aggregator sends the record to everybody. Clients '
    + 'that pinned the old key then trust the new one, and older logs still verify.',
    'A data folder with a sealed study keeps its key, because the key is a fact of that study: '
    + '"rotate" is refused there.',
    'This does not help after a theft of the old key: the thief can sign such a record too.',
    'Copies of the key in backups are not erased. A disk may keep overwritten data.',
  ],
  args: {
    action: { type: 'positional', required: true, description: 'show or rotate' },
    data: {
      type: 'string', required: true, valueHint: 'dir',
      description: 'data folder of "keelson serve"',
    },
  },
  examples: [
    'keelson keys show --data /var/lib/keelson', 'keelson keys rotate --data /var/lib/keelson',
  ],
  async run({ args, output }) {
    if (args.action === 'show') return show(args.data, output);
    if (args.action !== 'rotate') {
      throw new UsageError(`there is no "keelson keys ${args.action}": write show or rotate`);
    }
    const path = join(args.data, 'server.key');
    // Opening the store would create one.
    const missing = [path, join(args.data, 'keelson.db')].find((file) => !isSecretThere(file));
    if (missing !== undefined) {
      const remedy = 'name the data folder of an aggregator that has run';
      throw new InvalidInputError(`${missing} is missing: ${remedy}`, { path: missing });
    }
    const store = await openSqliteStore({ directory: args.data, clock: systemClock });
    try {
      const rotation = await rotateServerKey(path, store as RotationStore, systemClock.nowMs());
      const { previousKey, nextKey } = keysOfRotation(rotation);
      output.json({ previousKey: toHex(previousKey), serverKey: toHex(nextKey), path });
      output.text(`server key   ${toHex(nextKey)}`);
      output.text(`fingerprint  ${keyFingerprint(nextKey, signing)}`);
      output.text(`before       ${toHex(previousKey)}`);
      return 0;
    } finally {
      await store.close();
    }
  },
});

/** A folder that has run keeps the key in force; only a fresh one gets a key here. */
async function show(directory: string, output: Output): Promise<0> {
  const path = join(directory, 'server.key');
  if (!isSecretThere(path)) {
    if (isSecretThere(join(directory, 'keelson.db'))) {
      throw new InvalidInputError(`${path} is missing, and the folder was used: restore it`, { path });
    }
    // A key without its database would look like a folder that lost one.
    const store = await openSqliteStore({ directory, clock: systemClock });
    try {
      openServerKeys(directory);
    } finally {
      await store.close();
    }
  }
  const serverKey = signing.createSigner(serverSeedIn(path)).publicKey;
  const fingerprint = keyFingerprint(serverKey, signing);
  output.json({ serverKey: toHex(serverKey), fingerprint, path });
  output.text(`server key   ${toHex(serverKey)}`);
  output.text(`fingerprint  ${fingerprint}`);
  return 0;
}
