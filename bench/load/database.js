// A private PostgreSQL for the benchmarks of load, with its data on the disk that is measured.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPrivatePostgres } from '../../dist/cli/demo/cluster/private-postgres.js';
import { migrateSchema } from '../../dist/server/store/postgres/schema.js';
import { statOf } from '../harness/processes.js';

/** A server for one machine, as its manual advises, instead of the small one of the tests. */
const settings = { shared_buffers: '512MB', max_wal_size: '4GB' };

/**
 * @param place an existing folder for its data.
 * @returns `create()`, which resolves to the address of a new store, `cpuSeconds()` and `stop()`.
 */
export async function startDatabase(place) {
  const server = await startPrivatePostgres({ settings, place });
  const root = Number(readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8')
    .split('\n')[0]);
  return {
    async create() {
      const url = await server.createDatabase();
      await migrateSchema({ url });
      return url;
    },
    cpuSeconds: () => cpuSecondsOf(root),
    stop: () => server.stop(),
  };
}

/** Processor time of a process, of its children, and of children that have ended. */
function cpuSecondsOf(root) {
  const ticks = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => {
    const fields = statOf(`/proc/${name}/stat`);
    if (fields === null) return 0;
    const [own, ended] = [Number(fields[11]) + Number(fields[12]),
      Number(fields[13]) + Number(fields[14])];
    if (Number(name) === root) return own + ended;
    return Number(fields[1]) === root ? own : 0;
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}
