// Runs the suites on PostgreSQL. They fail where there is none, and say how to get one.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const words = ['node_modules/vitest/vitest.mjs', 'run', 'postgres', ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, words, {
  cwd: fileURLToPath(new URL('../', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, KEELSON_TEST_NEEDS_POSTGRES: '1' },
});
process.exitCode = status ?? 1;
