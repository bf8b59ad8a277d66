import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { descriptorLimit } from '../../server/listener/descriptors.js';
import { nodeRemedy } from '../base/node-version.js';
import { atLeast, bytesText, fail, ok, warn, type Finding } from './finding.js';

/**
 * Checks of the machine and the user, for a server that would start here.
 * @param nodeVersion as `process.versions.node` has it.
 */
export function machineFindings(nodeVersion: string): Finding[] {
  const limit = descriptorLimit();
  return [
    nodeFinding(nodeVersion),
    ...(limit === undefined ? [] : [filesFinding(limit)]),
    memoryFinding(freeMemory()),
  ];
}

/** @param version as `process.versions.node` has it. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  if (isOld) return fail('Node', version, 'install Node 22.16 or later');
  const remedy = nodeRemedy(version);
  return remedy === undefined ? ok('Node', version) : warn('Node', version, remedy);
}

/** @param limit how many files and connections a process may have open. */
export function filesFinding(limit: number): Finding {
  return atLeast('open files', `${limit} at once`, limit, {
    warnBelow: 16_384, failBelow: 1024,
    remedy: 'raise it to 65536: LimitNOFILE of systemd, ulimits of compose, or ulimit -n',
  });
}

/** @param bytes that programs may still use. */
export function memoryFinding(bytes: number): Finding {
  return atLeast('free memory', bytesText(bytes), bytes, {
    warnBelow: 512 * 2 ** 20, failBelow: 128 * 2 ** 20,
    remedy: 'end other programs, or give the machine or the container more memory',
  });
}

/** In bytes. Linux also counts memory that it would free for a program, such as cached files. */
function freeMemory(): number {
  try {
    const kibibytes = /^MemAvailable: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024;
  } catch {
    return freemem();
  }
}
