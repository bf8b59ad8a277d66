// Plants known mistakes in small estimators and prints which check caught each one.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
// Five times the limits of the test: a busy machine takes minutes for one, which is not a planted
// mistake.
const limits = ['--testTimeout=600000', '--hookTimeout=600000'];
const words = ['node_modules/vitest/vitest.mjs', 'run', 'test/planted', ...limits];
const { status } = spawnSync(process.execPath, words, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, KEELSON_PLANTED: 'full', KEELSON_TEST_SKIP_BUILD: '1' },
});
process.exitCode = status ?? 1;
