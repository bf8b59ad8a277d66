import {
  execFile, execFileSync, spawn, type ChildProcess, type SpawnOptions,
} from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync, appendFileSync, chownSync, constants, mkdirSync, mkdtempSync, readdirSync,
  readFileSync, statfsSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { codeOf } from '../../../src/base/errors.js';

/** A PostgreSQL server for tests and the demonstration. */
export interface PostgresServer {
  /** The address of a database of this server, with name and password. */
  url(database: string): string;
  /** Creates an empty database, which goes with the server. @returns its address. */
  createDatabase(): Promise<string>;
  /** Ends the server, and leaves nothing behind. Of a server that was given: no database. */
  stop(): Promise<void>;
}

/** A server that this process has started, so that it may also kill it. */
export interface PrivatePostgres extends PostgresServer {
  readonly folder: string;
  /** Kills the server and all its processes by SIGKILL. `restart` starts it again. */
  crash(): Promise<void>;
  /** Starts a server that has crashed. Resolves when it has recovered and takes connections. */
  restart(): Promise<void>;
}

export interface PostgresOptions {
  /** Lines of `postgresql.conf`, such as `{ fsync: 'off' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** An existing folder for its data. Default: in memory where there is room. */
  readonly place?: string;
  /** A running server: the new one is its standby, and follows it asynchronously. */
  readonly primary?: PrivatePostgres;
}

/** The folder with PostgreSQL's programs; null where there are none. */
export const programs = foundPrograms();

export const noPostgres = 'there is no PostgreSQL here; on Debian: apt-get install postgresql';

/**
 * Starts a server on a socket in a new folder. It asks for a password and syncs every commit. It
 * goes with the folder when `stop` is called, and also when this process dies.
 * @throws Error when there is no PostgreSQL.
 */
export async function startPrivatePostgres(
  options: PostgresOptions = {},
): Promise<PrivatePostgres> {
  if (programs === null) throw new Error(noPostgres);
  const server = new Cluster(programs, options);
  try {
    await server.create();
    await server.restart();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/**
 * Runs one text of SQL with psql.
 * @returns rows as lines, with `|` between columns.
 * @throws Error with the server's message.
 */
export async function psql(url: string, text: string): Promise<string> {
  const words = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '-v', 'ON_ERROR_STOP=1'];
  const program = programs === null ? 'psql' : join(programs, 'psql');
  const options = { env: plain };
  const { stdout } = await promisify(execFile)(program, [...words, '-c', text, url], options);
  return stdout.trimEnd();
}

export const databaseName = (): string => `keelson_${randomBytes(6).toString('hex')}`;

/** The user that the programs run as. They refuse to run as root. */
interface Identity { readonly uid?: number; readonly gid?: number }

class Cluster implements PrivatePostgres {
  readonly folder: string;
  readonly #password: string;
  readonly #data: string;
  readonly #identity = identity();
  readonly #keeper: ChildProcess;
  #server: ChildProcess | null = null;
  /** The end of the server's output. */
  #said: string[] = [];

  constructor(private readonly programs: string, private readonly options: PostgresOptions) {
    const { primary, place = roomyFolder() } = options;
    this.#password = primary === undefined
      ? randomBytes(12).toString('hex') : new URL(primary.url('postgres')).password;
    this.folder = mkdtempSync(join(place, 'keelson-pg-'));
    this.#data = join(this.folder, 'data');
    // It waits until this process closes the pipe or is dead, and then cleans up.
    this.#keeper = spawn('/bin/sh', ['-c', keeperScript, this.folder], {
      stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: plain,
    });
    // A process that has finished does not wait for it.
    this.#keeper.unref();
  }

  get #spawn(): SpawnOptions {
    return { ...this.#identity, cwd: this.folder, env: plain };
  }

  async create(): Promise<void> {
    const { settings = {}, primary } = this.options;
    const passwordFile = join(this.folder, 'password');
    writeFileSync(passwordFile, this.#password);
    mkdirSync(this.#data, { mode: 0o700 });
    const { uid, gid } = this.#identity;
    if (uid !== undefined && gid !== undefined) {
      for (const path of [this.folder, passwordFile, this.#data]) chownSync(path, uid, gid);
    }
    if (primary === undefined) {
      await this.#run('initdb', [
        '--pgdata', this.#data, '--username', 'keelson', '--auth', 'scram-sha-256', '--pwfile',
        passwordFile, '--locale', 'C', '--encoding', 'UTF8', '--data-checksums', '--no-sync',
      ]);
    } else {
      await this.#run('pg_basebackup', [
        '--pgdata', this.#data, '--dbname', primary.url('postgres'), '--write-recovery-conf',
        '--checkpoint', 'fast', '--no-sync',
      ]);
    }
    const lines = Object.entries({
      listen_addresses: '', unix_socket_directories: this.folder, max_connections: '100',
      shared_buffers: '32MB', max_wal_size: '128MB', dynamic_shared_memory_type: 'mmap',
      ...settings,
    }).map(([name, value]) => `${name} = '${value}'\n`);
    // A standby has the settings of its primary before these: the last line of a name counts.
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), lines.join(''));
  }

  async #run(program: string, words: readonly string[]): Promise<void> {
    await promisify(execFile)(join(this.programs, program), words, this.#spawn);
  }

  url(database: string): string {
    const host = encodeURIComponent(this.folder);
    return `postgres://keelson:${this.#password}@localhost/${database}?host=${host}`;
  }

  async createDatabase(): Promise<string> {
    const name = databaseName();
    await psql(this.url('postgres'), `create database ${name}`);
    return this.url(name);
  }

  async restart(): Promise<void> {
    // Processes of a killed server may still hold its memory: the next start then reports it.
    while (!await this.#started()) {
      if (!this.#said.some((line) => line.includes('is still in use'))) {
        throw new Error(`PostgreSQL does not start: ${this.#said.join('\n')}`);
      }
    }
  }

  /** Resolves when the server takes connections: true; or has ended: false. */
  async #started(): Promise<boolean> {
    this.#said = [];
    const server = spawn(join(this.programs, 'postgres'), ['-D', this.#data], {
      ...this.#spawn, stdio: ['ignore', 'ignore', 'pipe'], detached: true,
    });
    this.#server = server;
    server.unref();
    return new Promise((resolve, reject) => {
      createInterface(server.stderr).on('line', (line) => {
        this.#said = [...this.#said.slice(-20), line];
        if (/ready to accept (read-only )?connections/.test(line)) resolve(true);
      });
      server.once('close', () => resolve(false)).once('error', reject);
    });
  }

  async crash(): Promise<void> {
    const server = this.#server!;
    const ended = server.exitCode === null && server.signalCode === null && once(server, 'exit');
    for (const pid of [server.pid!, ...childrenOf(server.pid!)]) killNow(pid);
    await ended;
  }

  async stop(): Promise<void> {
    if (this.#keeper.exitCode !== null) return;
    const gone = once(this.#keeper, 'exit');
    this.#keeper.ref();
    this.#keeper.stdin!.end();
    await gone;
  }
}

/**
 * $0 is the folder. SIGQUIT ends PostgreSQL at once. Processes that still write end with its
 * folder.
 */
const keeperScript = `
cat > /dev/null
read -r pid < "$0/data/postmaster.pid" && kill -QUIT "$pid"
while kill -0 "$pid"; do sleep 0.05; done
until rm -rf "$0"; do sleep 0.05; done`;

/** Without variables that change the behaviour of PostgreSQL's programs. */
const plain = { PATH: process.env['PATH'], LC_ALL: 'C' };

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** On other systems than Linux none are found: they end by themselves when their parent is dead. */
function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter((word) => word !== '').map(Number);
  } catch {
    return [];
  }
}

/** The folder in which Linux keeps files in memory. */
const memoryFolder = '/dev/shm';

/** In memory where there is room, since every commit is synced. */
function roomyFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize > 2 ** 30 ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

function identity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const number = (flag: string): number => {
    for (const name of ['postgres', 'nobody']) {
      try {
        const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
        return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio }));
      } catch { /* No such user: the next name. */ }
    }
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
  };
  return { uid: number('-u'), gid: number('-g') };
}

/** Debian keeps PostgreSQL's programs out of PATH, in a folder for each version. */
function foundPrograms(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = (() => {
    try {
      return readdirSync(debian).sort((left, right) => Number(right) - Number(left));
    } catch {
      return [];
    }
  })();
  const folders = [
    ...(process.env['PATH'] ?? '').split(':').filter((folder) => folder !== ''),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const isWhole = (folder: string): boolean => ['initdb', 'postgres', 'psql'].every((name) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return folders.find(isWhole) ?? null;
}
