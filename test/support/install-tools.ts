import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { root } from './sources.js';

/**
 * Installs what tests use of `tools/` and is not there yet: once in a clone. Where that is not
 * possible, the tests that need it fail, and the others run.
 */
export default function installTools(): void {
  // `npm install` has brought it where it is needed.
  const names = readdirSync(`${root}tools`).filter((name) => name !== 'sqlite');
  try {
    execFileSync(process.execPath, ['scripts/tool.js', ...names], { cwd: root, stdio: 'inherit' });
  } catch {
    // The script has said why.
  }
}
