// Loaded into a command by --import: its wall clock is wrong by so many milliseconds, in every
// thread.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const byMs = Number(process.env.KEELSON_TEST_CLOCK_SHIFT_MS ?? 0);
const now = Date.now;
Date.now = () => now() + byMs;

// Workers do not read --import: each begins with this file.
threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    const source =
      `import ${JSON.stringify(import.meta.url)}; await import(${JSON.stringify(String(file))});`;
    super(new URL(`data:text/javascript,${encodeURIComponent(source)}`), options);
  }
};
syncBuiltinESMExports();
