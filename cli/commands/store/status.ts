import { postgresStatus } from '../../../server/store/postgres/status.js';
import { defineCommand } from '../../base/command.js';
import { readSettings } from '../../base/settings-file.js';
import { placeOf } from '../../base/store-flags.js';
import { passwordDetails, printStatus, tableArguments } from './tables.js';

export const storeStatus = defineCommand({
  name: 'store status',
  summary: 'Show the state of a store in PostgreSQL.',
  details: [
    'It shows the versions, the servers, the encryption keys in use, and what is set wrongly. With '
    + '--encryption-keys it says which of these keys the folder lacks. It changes nothing.',
    passwordDetails,
  ],
  args: tableArguments,
  examples: ['keelson store status postgres://keelson@db/keelson --json'],
  async run({ args, output }) {
    const status = await postgresStatus(
      placeOf(args.url, readSettings(args.settings)), args['encryption-keys']);
    output.json(status);
    printStatus(status, output);
    return 0;
  },
});
