import { schemaStatus } from '../../../server/store/postgres/schema.js';
import { StorageError } from '../../../src/base/errors.js';
import { defineCommand } from '../../base/command.js';
import { readSettings } from '../../base/settings-file.js';
import { placeOf } from '../../base/store-flags.js';
import { bringUpToDate, passwordDetails, tableArguments } from './tables.js';

export const initStore = defineCommand({
  name: 'store init',
  summary: 'Make the tables of a store in PostgreSQL.',
  details: [
    'It makes the schema and its tables in a database that exists, and does nothing when they are '
    + 'there. The user needs the right to create a schema in the database.',
    passwordDetails,
  ],
  args: tableArguments,
  examples: ['keelson store init postgres://keelson@db/keelson'],
  async run({ args, output }) {
    const place = placeOf(args.url, readSettings(args.settings));
    const { version, supported } = await schemaStatus(place);
    if (version > 0 && version < supported) {
      throw new StorageError(`the database has schema ${version}, this program needs ${supported} `
        + 'or later: run keelson store migrate', 'storage-failed',
      { details: { found: version, supported } });
    }
    return bringUpToDate(place, version, args['encryption-keys'], output);
  },
});
