import { createHash } from 'node:crypto';
import { beforeAll } from 'vitest';
import type { Store } from '../../server/store/contract.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { describePostgres } from '../support/postgres.js';
import { storeSuite } from '../support/store-suite.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

describePostgres('PostgreSQL store', (server) => {
  let url = '';
  beforeAll(async () => { url = await server().createDatabase(); });

  /** Each folder of the suite stands for a schema. */
  const open = async (directory: string): Promise<Store> => {
    const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
    const place = { url, schema: `t_${name}` };
    await migrateSchema(place);
    return openPostgresStore({ encryptionKeys, ...place, leaseMs: 2_000 });
  };
  storeSuite('the contract', open, [], { erases: false, isExclusive: false });
});
