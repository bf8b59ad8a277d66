/** The oldest that the next release runs on: from there on Node has SQLite. */
const next = [22, 16] as const;

/**
 * The warning about a Node that the next release no longer runs on; undefined for others.
 * @param version as `process.versions.node` has it.
 */
export function nodeRemedy(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < next[0] || (major === next[0] && minor < next[1]);
  return isOld
    ? `install Node 24: the next release of Keelson needs Node ${next.join('.')} or later` : undefined;
}
