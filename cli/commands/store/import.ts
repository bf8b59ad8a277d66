import { join } from 'node:path';
import { bindSecrets } from '../../../server/keys/bound-secrets.js';
import { importFolder } from '../../../server/store/moving/import-folder.js';
import { defineCommand } from '../../base/command.js';
import { readSettings } from '../../base/settings-file.js';
import { placeOf, encryptionKeysIn } from '../../base/store-flags.js';
import { passwordDetails, tableArguments } from './tables.js';

const { url, ...flags } = tableArguments;

export const importStore = defineCommand({
  name: 'store import',
  summary: 'Move the store of a data folder into PostgreSQL.',
  details: [
    'It moves budgets, logs, keys of contributors and rows into empty tables. Stop the server of '
    + 'the folder first, then serve with --store URL --secrets FOLDER: the keys stay in the '
    + 'folder. No server opens it as --data again.',
    passwordDetails,
  ],
  args: {
    url,
    folder: { type: 'positional', required: true, description: 'the data folder to move' },
    ...flags,
    'encryption-keys': {
      type: 'string', valueHint: 'folder',
      description: 'folder of the keys that seal rows (default row-keys in the data folder)',
    },
  },
  examples: ['keelson store import postgres://keelson@db/keelson keelson-data'],
  async run({ args, output }) {
    const { folder } = args;
    const place = placeOf(args.url, readSettings(args.settings));
    const { store: name, rows } =
      await importFolder(folder, place, args['encryption-keys'] ?? encryptionKeysIn(folder));
    bindSecrets(folder, name);
    output.json({ store: name, rows });
    if (rows === null) {
      output.text('nothing changed: this folder was moved before');
    } else {
      for (const [table, count] of Object.entries(rows)) {
        if (count > 0) output.text(`${table.padEnd(24)}${count}`);
      }
      output.text('each row was read back and compared');
    }
    output.text(`serve with --store and --secrets ${folder}. When that runs, delete `
      + `${join(folder, 'keelson.db')}: it still holds the rows of contributors`);
    return 0;
  },
});
