import { postgresStatus } from '../../../server/store/postgres/status.js';
import { defineCommand } from '../../base/command.js';
import { placeOf } from '../../base/store-flags.js';
import { passwordDetails, printStatus, tableArguments } from './tables.js';

export const storeStatus = defineCommand({
  name: 'store status',
  summary: 'Show the state of a store in PostgreSQL.',
  details: [
    'It shows the versions, the servers, the row keys in use, and what is set wrongly. With '
    + '--row-keys it says which of these keys are missing in the folder. It changes nothing.',
    passwordDetails,
  ],
  args: tableArguments,
  examples: ['keelson store status postgres://keelson@db/keelson --json'],
  async run({ args, output }) {
    const status = await postgresStatus(
      placeOf(args.url, args['store-schema']), args['row-keys']);
    output.json(status);
    printStatus(status, output);
    return 0;
  },
});
