import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Brings generated sources up to date before unit tests. Without changes it takes 0.1 s. */
export default function generateOnce(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  execFileSync(process.execPath, ['scripts/generate.js'], { cwd: root, stdio: 'inherit' });
}
