import { schemaStatus } from '../../../server/store/postgres/schema.js';
import { StorageError } from '../../../src/base/errors.js';
import { defineCommand } from '../../base/command.js';
import { readSettings } from '../../base/settings-file.js';
import { placeOf } from '../../base/store-flags.js';
import { bringUpToDate, passwordDetails, tableArguments } from './tables.js';

export const migrateStore = defineCommand({
  name: 'store migrate',
  summary: 'Bring the tables of a store in PostgreSQL up to this version.',
  details: [
    'It upgrades them in one transaction. Servers of older programs go on where they may use the '
    + 'new tables, until you replace them; if one may not, nothing is changed, and the servers to '
    + 'stop are named.',
    passwordDetails,
  ],
  args: tableArguments,
  examples: ['keelson store migrate postgres://keelson@db/keelson'],
  async run({ args, output }) {
    const place = placeOf(args.url, readSettings(args.settings));
    const { version, supported } = await schemaStatus(place);
    if (version === 0) {
      throw new StorageError('the database has no store in this schema: make one with keelson '
        + 'store init, or name another store.schema with --settings',
        'storage-failed', { details: { found: version, supported } });
    }
    return bringUpToDate(place, version, args['encryption-keys'], output);
  },
});
