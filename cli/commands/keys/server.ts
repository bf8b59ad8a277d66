import { join } from 'node:path';
import { signing } from '#signing';
import { systemClock } from '../../../server/base/clock.js';
import { serverSeedIn } from '../../../server/keys/key-rotation.js';
import { openServerKeys } from '../../../server/keys/server-keys.js';
import { isSecretThere } from '../../../server/base/secret-files.js';
import { openSqliteStore } from '../../../server/store/sqlite/open.js';
import { toHex } from '../../../src/base/bytes.js';
import { InvalidInputError } from '../../../src/base/errors.js';
import { keyFingerprint } from '../../../src/signing/index.js';
import { defineCommand } from '../../base/command.js';

export const serverKey = defineCommand({
  name: 'keys server',
  summary: 'Print the public key that the aggregator of a data folder signs with.',
  details: [
    'It makes the key where there is none. The file of a sealed study needs the public key before '
    + 'the first start.',
  ],
  args: {
    data: {
      type: 'string', required: true, valueHint: 'dir',
      description: 'data folder of "keelson serve"',
    },
  },
  examples: ['keelson keys server --data /var/lib/keelson'],
  async run({ args, output }) {
    const path = await keyFileOf(args.data);
    const { publicKey } = signing.createSigner(serverSeedIn(path));
    const fingerprint = keyFingerprint(publicKey, signing);
    output.json({ serverKey: toHex(publicKey), fingerprint, path });
    output.text(`server key   ${toHex(publicKey)}`);
    output.text(`fingerprint  ${fingerprint}`);
    return 0;
  },
});

/** A folder that has run keeps the key in force; only a fresh one gets a key here. */
async function keyFileOf(directory: string): Promise<string> {
  const path = join(directory, 'server.key');
  if (isSecretThere(path)) return path;
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
  return path;
}
