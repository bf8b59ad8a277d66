import { join } from 'node:path';
import { signing } from '#signing';
import { systemClock } from '../../../server/base/clock.js';
import { isSecretThere } from '../../../server/base/secret-files.js';
import { rotateServerKey, type RotationStore } from '../../../server/keys/key-rotation.js';
import { openSqliteStore } from '../../../server/store/sqlite/open.js';
import { toHex } from '../../../src/base/bytes.js';
import { InvalidInputError } from '../../../src/base/errors.js';
import { keyFingerprint, keysOfRotation } from '../../../src/signing/index.js';
import { defineCommand } from '../../base/command.js';

export const rotate = defineCommand({
  name: 'keys rotate',
  summary: 'Give a data folder a new server key that clients go on to trust.',
  details: [
    'It makes a new key, and a record that the old and the new key both sign. It erases the old '
    + 'private key. Stop the aggregator first; the command is refused while it runs. From its next '
    + 'start, the aggregator sends the record to everybody. Clients that pinned the old key then '
    + 'trust the new one, and older logs still verify.',
    'A data folder with a sealed study keeps its key, because the key is a fact of that study: the '
    + 'command is refused there.',
    'This does not help after a theft of the old key: the thief can sign such a record too.',
    'Copies of the key in backups are not erased. A disk may keep overwritten data.',
  ],
  args: {
    data: {
      type: 'string', required: true, valueHint: 'dir',
      description: 'data folder of "keelson serve"',
    },
  },
  examples: ['keelson keys rotate --data /var/lib/keelson'],
  async run({ args, output }) {
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
