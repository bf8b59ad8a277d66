import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const refused = (what: string) => function refuse(): never {
  throw new Error(`a unit test starts no ${what}: list its file in test/support/tiers.ts`);
};

// Threads and commands run from dist/. Unit tests do without a build, so they could meet an old
// one.
Object.assign(threads, { Worker: refused('thread') });
Object.assign(childProcess, { spawn: refused('process'), fork: refused('process') });
syncBuiltinESMExports();
