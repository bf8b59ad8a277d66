import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds dist/ once before any test, so that workers and the command under test are never stale.
 */
export default function buildOnce(): void {
  if (process.env['KEELSON_TEST_SKIP_BUILD'] === '1') return;
  const root = fileURLToPath(new URL('../../', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit' });
}
