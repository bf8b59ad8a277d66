import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeelsonError } from '../../src/base/errors.js';

/** Releases the lock. */
export type Unlock = () => Promise<void>;

/**
 * Makes this process the only writer of a file. The lock is a listening local socket whose name is
 * made from the path. The system removes it when the process ends for any reason. It holds within
 * one machine (on Linux: one network namespace), not between machines that share a file system.
 * @param realPath absolute, without symbolic links.
 * @throws KeelsonError('outbox-failed') when another process, or this one, holds it.
 */
export async function lockFile(realPath: string): Promise<Unlock> {
  const name = `keelson-outbox-${createHash('sha256').update(realPath).digest('hex').slice(0, 32)}`;
  const address = addressOf(name);
  const server = (await listen(address)) ?? (await listenAfterCrash(address));
  if (server === null) {
    throw new KeelsonError(
      'outbox-failed', `another contributor uses the outbox ${realPath}: give each its own`, {
        details: { path: realPath },
      },
    );
  }
  // The lock alone must not keep the process running.
  server.unref();
  return () => new Promise((resolve) => { server.close(() => resolve()); });
}

function addressOf(name: string): string {
  switch (platform()) {
    case 'linux':
      // An abstract name leaves no file.
      return `\0${name}`;
    case 'win32':
      return `\\\\.\\pipe\\${name}`;
    default:
      return join(tmpdir(), `${name}.sock`);
  }
}

function listen(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else {
        reject(new KeelsonError('outbox-failed', 'the outbox cannot be locked', { cause: error }));
      }
    });
    server.listen(address, () => resolve(server));
  });
}

/**
 * If the socket is a file, a crash leaves it. If nothing answers there, the file may be removed.
 */
async function listenAfterCrash(address: string): Promise<Server | null> {
  if (!address.endsWith('.sock') || (await isAnswered(address))) return null;
  await unlink(address).catch(() => undefined);
  return listen(address);
}

function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
