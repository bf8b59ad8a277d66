import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Mark } from './marks.js';

/** Most of a map that is read at once. */
const chunkBytes = 16 * 1024 * 1024;

/**
 * Names of the marks that the readable memory of a running process holds: heap, stacks, and
 * whatever else it has mapped. Linux only, for a process of the same user that this one started.
 */
export function marksInMemory(pid: number, marks: readonly Mark[]): readonly string[] {
  const found = new Set<string>();
  const overlap =
    Math.max(...marks.flatMap(({ patterns }) => patterns.map(({ length }) => length)));
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const [from, to] of readableMaps(pid)) {
      for (let at = from; at < to; at += chunkBytes) {
        const bytes = bytesAt(memory, at, Math.min(chunkBytes + overlap, to - at));
        for (const { name, patterns } of marks) {
          if (!found.has(name) && patterns.some((pattern) => bytes.includes(pattern))) {
            found.add(name);
          }
        }
      }
    }
  } finally {
    closeSync(memory);
  }
  return [...found];
}

/** True if the memory of another process can be read here. */
export function canReadMemory(pid: number): boolean {
  try {
    const [first] = readableMaps(pid);
    const memory = openSync(`/proc/${pid}/mem`, 'r');
    try {
      return bytesAt(memory, first![0], 16).length === 16;
    } finally {
      closeSync(memory);
    }
  } catch {
    return false;
  }
}

/**
 * Where the memory begins and ends that the process may read. Left out are what the kernel maps,
 * and files that it cannot write to: the program and its libraries.
 */
function readableMaps(pid: number): readonly (readonly [number, number])[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
    .map((line) => line.split(/ +/))
    .filter(([, rights = '', , , inode, path = '']) => rights.startsWith('r')
      && (inode === '0' || rights[1] === 'w') && !path.startsWith('[v'))
    .map(([range]) => {
      const [from, to] = range!.split('-').map((hex) => Number.parseInt(hex, 16));
      return [from!, to!] as const;
    });
}

function bytesAt(memory: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, length, at));
  } catch {
    // It was given back since the list was read, or it is a device.
    return Buffer.alloc(0);
  }
}
