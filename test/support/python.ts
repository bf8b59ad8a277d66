import { execFileSync } from 'node:child_process';

/** Debian's, which has the packages of the client: another one in the path has none of them. */
export const python = '/usr/bin/python3';

/** True if Debian's Python has these modules, with commas between. */
export function canImport(modules: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${modules}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
