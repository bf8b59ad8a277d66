import { execFileSync } from 'node:child_process';

export interface Packed {
  readonly filename: string;
  /** Of the tarball, in bytes. */
  readonly size: number;
  /** A digest of the tarball. */
  readonly integrity: string;
  readonly files: readonly { readonly path: string }[];
}

/**
 * Runs npm as a user does, without the settings that the npm of this test hands down.
 * @returns its standard output.
 * @throws Error with its `stderr` when npm ends with another status than 0.
 */
export function npm(words: readonly string[], directory: string): string {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return execFileSync('npm', words, {
    cwd: directory, encoding: 'utf8', env: Object.fromEntries(inherited),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Packs the package of a folder as it was built before. */
export function pack(folder: string, destination: string): Packed {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const [packed] = JSON.parse(npm(words, folder)) as [Packed];
  return packed;
}

/** True if npm failed since it could not reach a registry, and had not kept what it asked for. */
export function isOffline(failure: unknown): boolean {
  const { stderr } = failure as { readonly stderr?: string };
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENOTCACHED/.test(stderr ?? '');
}
