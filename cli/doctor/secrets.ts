import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, ok, warn, type Finding } from './finding.js';

const secrets = ['server.key', 'operator.token', 'series.key'] as const;

/**
 * Checks who may write to a folder, who owns its files, and who may read the keys in it.
 * @param check the folder, in a word or two.
 */
export function secretsFindings(check: string, directory: string): Finding[] {
  return [
    folderFinding(check, directory),
    ownerFinding(directory),
    ...secrets.flatMap((name) => secretFinding(join(directory, name)) ?? []),
  ];
}

function folderFinding(check: string, directory: string): Finding {
  const mode = statSync(directory).mode & 0o777;
  const text = `mode ${mode.toString(8).padStart(4, '0')}`;
  if ((mode & 0o022) !== 0) {
    return fail(check, `${text}: others can write to it`, `chmod go-w ${directory}`);
  }
  return (mode & 0o077) === 0 ? ok(check, text)
    : warn(check, `${text}: others can read it`, `chmod 700 ${directory}`);
}

/** A file of another user, such as one that root has put there, may be closed to the server. */
function ownerFinding(directory: string): Finding {
  const { uid } = statSync(directory);
  const others = readdirSync(directory).filter((name) => {
    const found = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return found !== undefined && found.uid !== uid;
  }).sort();
  if (others.length === 0) return ok('owner', `user ${uid}, of every file`);
  return fail('owner', `the folder belongs to user ${uid}, and to others: ${others.join(', ')}`,
    `give all of it to the user that runs the server: chown -R USER ${directory}`);
}

function secretFinding(path: string): Finding | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return (found.mode & 0o077) === 0 ? ok(path, `mode ${mode}`)
    : fail(path, `mode ${mode}: others can read it`,
      `chmod 600 ${path}, and replace the secret if somebody may have read it`);
}
