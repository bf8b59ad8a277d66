import { execFileSync } from 'node:child_process';
import { root } from './sources.js';

/**
 * Installs what tests use of `tools/` and is not there yet: once in a clone. Where that is not
 * possible, the tests that need it fail, and the others run.
 */
export default function installTools(): void {
  try {
    execFileSync(process.execPath, ['scripts/tool.js'], { cwd: root, stdio: 'inherit' });
  } catch {
    // The script has said why.
  }
}
