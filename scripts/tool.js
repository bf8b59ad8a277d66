// Installs tools: packages that neither the build nor the demonstration needs. Each has a folder in
// tools/ with a lock file of its own, and is installed when something first needs it:
// node scripts/tool.js NAME..., or without a name all that `npm install` does not bring.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './generated.js';

/** True if the installed packages can be used, if the lock file alone cannot decide it. */
const usable = {
  // It was compiled for one version of Node.
  sqlite: (folder) => {
    const program = `new (require(${JSON.stringify(join(folder, 'better-sqlite3'))}))(':memory:')`;
    try {
      execFileSync(process.execPath, ['-e', program], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  },
};

/** The folder of a tool, what marks it as installed, and whether it is. */
function stateOf(name) {
  // A copy of the project may link to the packages of another: then so it does to its tools.
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  const packages = realpathSync(join(root, 'node_modules'));
  const place = join(dirname(packages), 'tools', name);
  const folder = join(place, 'node_modules');
  const lock = readFileSync(join(place, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('base64url');
  // npm removes the folder first, so an installation that was interrupted has no such file.
  const mark = join(folder, '.keelson-installed');
  const isCurrent = existsSync(mark) && readFileSync(mark, 'utf8') === key
    && usable[name]?.(folder) !== false;
  const names = Object.keys(JSON.parse(lock).packages[''].dependencies);
  return { packages, place, folder, names, key, mark, isCurrent };
}

/**
 * Installs `tools/NAME` unless it is there in the version of its lock file (then 1 ms), and links
 * its packages into node_modules, where everything finds them.
 * @throws Error with the end of npm's output
 */
export function useTool(name) {
  const { packages, place, folder, names, key, mark, isCurrent } = stateOf(name);
  if (!isCurrent) {
    install(place);
    writeFileSync(mark, key);
  }
  for (const each of names) link(join(packages, each), join(folder, each));
}

function install(place) {
  // The npm that runs this script, whatever it was asked for itself.
  const { npm_execpath: npm } = process.env;
  const [program, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm];
  // Peer dependencies, such as TypeScript, are in the project's own node_modules.
  const words = ['ci', '--prefix', place, '--omit', 'peer', '--location', 'project', '--no-global',
    '--no-dry-run', '--no-audit', '--no-fund'];
  console.log(`installing ${relative(root, place)}`);
  try {
    execFileSync(program, [...first, ...words], {
      cwd: place, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    const last = String(error.stderr || error).trimEnd().split('\n').slice(-15).join('\n');
    throw new Error(`${relative(root, place)} could not be installed: ${last}`, { cause: error });
  }
}

/** A link that holds wherever the project is moved. `npm install` removes it. */
function link(from, to) {
  if (existsSync(from) && realpathSync(from) === realpathSync(to)) return;
  rmSync(from, { recursive: true, force: true });
  mkdirSync(dirname(from), { recursive: true });
  symlinkSync(relative(dirname(from), to), from, 'junction');
}

/** In a process of its own: an installation waits for the registry more than it computes. */
function useBeside(name) {
  const child = spawn(process.execPath, [process.argv[1], name], { stdio: 'inherit' });
  child.once('close', (status) => { process.exitCode ||= status ?? 1; });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const names = asked.length > 0 ? asked
    : readdirSync(join(root, 'tools')).filter((name) => name !== 'sqlite');
  const missing = names.filter((name) => !stateOf(name).isCurrent);
  try {
    names.filter((name) => missing.length < 2 || !missing.includes(name)).forEach(useTool);
    if (missing.length > 1) missing.forEach(useBeside);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
