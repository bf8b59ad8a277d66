import { join } from 'node:path';
import { bindSecrets } from '../../server/keys/bound-secrets.js';
import { giveUpRows, lostRows, type LostEpoch } from '../../server/store/postgres/give-up-rows.js';
import { importFolder } from '../../server/store/moving/import-folder.js';
import type { PostgresPlace } from '../../server/store/postgres/place.js';
import { migrateSchema, schemaStatus } from '../../server/store/postgres/schema.js';
import {
  namePostgresStore, postgresStatus, type PostgresStatus,
} from '../../server/store/postgres/status.js';
import { StorageError } from '../../src/base/errors.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import type { Output } from '../base/output.js';
import { placeOf, rowKeysIn, schemaArgument } from '../base/store-flags.js';

const actions = ['init', 'migrate', 'import', 'status', 'give-up-rows'];
const listed = `${actions.slice(0, -1).join(', ')} or ${actions.at(-1)!}`;

export const store = defineCommand({
  name: 'store',
  summary: 'Make, upgrade or mend the tables of a store in PostgreSQL, or show its state.',
  details: [
    '"init" makes the schema and its tables in a database that exists, and does nothing when they '
    + 'are there. "migrate" brings the tables of an older version up to this one, in one '
    + 'transaction. Servers of older programs go on where they may use the new tables, until you '
    + 'replace them; if one may not, nothing is changed, and the servers to stop are named. '
    + '"status" changes nothing: it shows the versions, the servers, the row keys in use, and what '
    + 'is set wrongly. With --row-keys it says which of these keys are missing in the folder.',
    '"import" moves the store of a data folder into empty tables: budgets, logs, keys of '
    + 'contributors and rows. Stop its server first, then serve with --store URL --secrets FOLDER: '
    + 'the keys stay in the folder. No server opens it as --data again.',
    '"give-up-rows" is for row keys that are lost for ever: without them no server starts. It '
    + 'shows the epochs whose rows nobody can read any more. With --yes it ends them without a '
    + 'release and deletes their rows, so that servers start again. Stop the servers first.',
    'The password comes from the address, PGPASSWORD or ~/.pgpass, and is never printed. The user '
    + 'needs the right to create a schema in the database.',
  ],
  args: {
    action: { type: 'positional', required: true, description: listed },
    url: {
      type: 'positional', required: true,
      description: 'the database, like postgres://user@host/database',
    },
    folder: {
      type: 'positional', required: false, description: 'with import: the data folder to move',
    },
    'row-keys': {
      type: 'string', valueHint: 'folder',
      description: 'folder of the keys that seal rows; with import by default row-keys in the data '
        + 'folder',
    },
    yes: {
      type: 'boolean',
      description: 'with give-up-rows: give them up, instead of showing what is lost',
    },
    all: {
      type: 'boolean',
      description: 'with give-up-rows: also when the folder has none of the row keys',
    },
    ...schemaArgument,
  },
  examples: [
    'keelson store init postgres://keelson@db/keelson',
    'keelson store import postgres://keelson@db/keelson keelson-data',
    'keelson store status postgres://keelson@db/keelson --json',
    'keelson store give-up-rows postgres://keelson@db/keelson --row-keys rows',
  ],
  async run({ args, output }) {
    const place = placeOf(args.url, args['store-schema']);
    if (!actions.includes(args.action)) {
      throw new UsageError(`there is no "keelson store ${args.action}": write ${listed}`);
    }
    const rowKeys = args['row-keys'];
    if (args.action === 'import') return moved(args.folder, place, rowKeys, output);
    if (args.folder !== undefined) {
      throw new UsageError(`a folder belongs to import: leave "${args.folder}" out`);
    }
    const { yes = false, all = false } = args;
    if (args.action === 'give-up-rows') return givenUp(place, rowKeys, { yes, all }, output);
    if (yes || all) throw new UsageError('--yes and --all belong to give-up-rows');
    const before = args.action === 'status' ? undefined : await change(args.action, place, rowKeys);
    const status = await postgresStatus(place, rowKeys);
    output.json({ ...(before !== undefined && { before }), ...status });
    if (before !== undefined) output.text(before === status.version
      ? 'nothing changed: the tables are there' : 'the tables are made');
    describe(status, output);
    return 0;
  },
});

async function moved(
  folder: string | undefined, place: PostgresPlace, rowKeys: string | undefined, output: Output,
): Promise<0> {
  if (folder === undefined) {
    throw new UsageError('import needs the data folder too: keelson store import URL FOLDER');
  }
  const { store: name, rows } =
    await importFolder(folder, place, rowKeys ?? rowKeysIn(folder));
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
}

async function givenUp(
  place: PostgresPlace, folder: string | undefined,
  { yes, all }: { readonly yes: boolean; readonly all: boolean }, output: Output,
): Promise<0> {
  if (folder === undefined) {
    throw new UsageError('give-up-rows needs the folder of row keys: add --row-keys FOLDER');
  }
  const lost = yes ? await giveUpRows(place, folder, all) : await lostRows(place, folder);
  output.json({
    done: yes, keys: lost.keys, isAll: lost.isAll,
    epochs: lost.epochs.map((each) => ({ ...each, epoch: String(each.epoch) })),
  });
  for (const name of lost.keys) output.text(`row key      ${name} is not in ${folder}`);
  for (const each of lost.epochs) {
    output.text(`epoch        ${each.epoch} of ${each.study} (${each.state}): ${fates[each.state]}`);
  }
  if (lost.keys.length === 0) {
    output.text('no row key is missing: there is nothing to give up');
  } else if (yes) {
    output.text('done: servers start again, and each study goes on with its next epoch');
  } else {
    output.text('nothing is changed yet. First look for the files in copies of the folder. If they '
      + 'are lost for ever, stop all servers and add --yes. This cannot be undone'
      + (lost.isAll ? '. The folder has none of the row keys: is it the right one? If it is, add '
        + '--all too' : ''));
  }
  return 0;
}

/** What happens to an epoch whose rows are given up, by its state. */
const fates: Readonly<Record<LostEpoch['state'], string>> = {
  open: 'ends without a release, and its cost goes back to the budget',
  closing: 'ends without a release, and its cost goes back to the budget',
  charged: 'ends as interrupted, and its cost stays spent',
  released: 'its rows are deleted, and its release stays',
  lapsed: 'its rows are deleted',
};

/** @returns the version of the tables before; 0 when there were none. */
async function change(
  action: string, place: PostgresPlace, rowKeys: string | undefined,
): Promise<number> {
  const { version, supported } = await schemaStatus(place);
  const refuse = (text: string): never => {
    throw new StorageError(text, 'storage-failed', { details: { found: version, supported } });
  };
  if (action === 'init' && version > 0 && version < supported) {
    refuse(`the database has schema ${version}, this program needs ${supported} or later: run `
      + 'keelson store migrate');
  }
  if (action === 'migrate' && version === 0) {
    refuse('the database has no store in this schema: make one with keelson store init, or name '
      + 'another --store-schema');
  }
  await migrateSchema(place, rowKeys);
  await namePostgresStore(place);
  return version;
}

/** In words, of which program a server is and what that means. */
function programText(program: number, { version, needed }: PostgresStatus): string {
  if (program >= version) return '';
  return `, of version ${program}: it goes on with these tables`
    + (needed > program ? ', replace it with this program' : '');
}

function describe(status: PostgresStatus, output: Output): void {
  const { nodes, rowKeys, warnings } = status;
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
  for (const { name, epochs } of rowKeys) {
    output.text(`row key      ${name}: ${epochs === '' ? 'no epoch needs it now' : epochs}`);
  }
  for (const warning of warnings) output.text(`warning      ${warning}`);
}
