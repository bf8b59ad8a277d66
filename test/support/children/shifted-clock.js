// Loaded into a command by --import: its wall clock is wrong by so many milliseconds, in every thread.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const byMs = Number(process.env.KEELSON_TEST_CLOCK_SHIFT_MS ?? 0);
const now = Date.now;
Date.now = () => now() + byMs;

threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, { ...options, execArgv: ['--import', import.meta.url] });
  }
};
syncBuiltinESMExports();
