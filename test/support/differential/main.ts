/* eslint-disable no-console -- a command: it prints. */
import { parseArgs } from 'node:util';
import { startPrivatePostgres } from '../../../cli/demo/cluster/private-postgres.js';
import { differences } from './in-database.js';

const usage = `differential [--sequences N] [--first SEED]
Makes random sequences of calls (10000), by seeds from the first one on (1), on a store in SQLite and on one in a private
PostgreSQL, and compares every answer, balance and journal. It needs PostgreSQL's programs.`;

/** Sequences between two lines of progress. */
const piece = 1_000;

/**
 * The command behind `npm run differential`. @returns the exit code: 1 when an answer differs, 2
 * for usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sequences: { type: 'string', default: '10000' }, first: { type: 'string', default: '1' },
      help: { type: 'boolean' },
    },
  });
  const [count, first] = [Number(values.sequences), Number(values.first)];
  const isSeed = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  if (values.help === true || !isSeed(count) || !isSeed(first)) {
    console.log(usage);
    return 2;
  }
  const startedMs = performance.now();
  const server = await startPrivatePostgres();
  try {
    for (let done = 0; done < count;) {
      const next = Math.min(piece, count - done);
      const found = await differences(next, server, first + done);
      done += next;
      for (const text of found) console.log(text);
      const seconds = (performance.now() - startedMs) / 1_000;
      console.log(`${done} sequences in ${seconds.toFixed(0)} s: ${found.length} differences`);
      if (found.length > 0) return 1;
    }
    return 0;
  } finally {
    await server.stop();
  }
}
