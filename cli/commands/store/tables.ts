import type { PostgresPlace } from '../../../server/store/postgres/place.js';
import { migrateSchema } from '../../../server/store/postgres/schema.js';
import {
  namePostgresStore, postgresStatus, type PostgresStatus,
} from '../../../server/store/postgres/status.js';
import type { Output } from '../../base/output.js';
import { settingsArgument } from '../../base/settings-file.js';

/** The arguments of commands on the tables in PostgreSQL. */
export const tableArguments = {
  url: {
    type: 'positional', required: true,
    description: 'the database, like postgres://user@host/database',
  },
  'encryption-keys': {
    type: 'string', valueHint: 'folder', description: 'folder of the keys that encrypt rows',
  },
  ...settingsArgument,
} as const;

/** The last paragraph of the help of these commands. */
export const passwordDetails = 'The password comes from the address, PGPASSWORD or ~/.pgpass, and '
  + 'is never printed.';

/** Makes the tables of this version, or brings older ones up to it, and shows the result. */
export async function bringUpToDate(
  place: PostgresPlace, before: number, encryptionKeys: string | undefined, output: Output,
): Promise<0> {
  await migrateSchema(place, encryptionKeys);
  await namePostgresStore(place);
  const status = await postgresStatus(place, encryptionKeys);
  output.json({ before, ...status });
  output.text(before === status.version
    ? 'nothing changed: the tables are there' : 'the tables are made');
  printStatus(status, output);
  return 0;
}

/** The program of a server and its consequences, in words. */
function programText(program: number, { version, needed }: PostgresStatus): string {
  if (program >= version) return '';
  return `, of version ${program}: it goes on with these tables`
    + (needed > program ? ', replace it with this program' : '');
}

/** The versions, servers, encryption keys and faults of a store, one line each. */
export function printStatus(status: PostgresStatus, output: Output): void {
  const { nodes, encryptionKeys, missingKeys, refusal, standbys } = status;
  output.text(`PostgreSQL   ${status.server}`);
  output.text(`schema       ${status.schema}, `
    + (status.version === 0 ? 'without tables: run "keelson store init"'
      : `version ${status.version}; this program needs ${status.needed} or later, and programs `
        + `before ${status.leastProgram} cannot use it`));
  if (status.store !== null) output.text(`store        ${status.store}`);
  for (const { name, studies, secondsAgo, program } of nodes) {
    output.text(`server       ${name}: leads ${studies} ${studies === 1 ? 'study' : 'studies'}, `
      + `seen ${secondsAgo} s ago${programText(program, status)}`);
  }
  for (const { name, epochs } of encryptionKeys) {
    output.text(`encryption key ${name}: ${epochs === '' ? 'no epoch needs it now' : epochs}`);
  }
  if (refusal !== null) output.text(`warning      ${refusal}`);
  if (standbys === 0) {
    output.text('warning      there is no synchronous standby, so what is acknowledged is on one '
      + 'machine only');
  }
  for (const name of missingKeys) {
    output.text(`warning      the encryption key ${name} is not in the folder`);
  }
}
