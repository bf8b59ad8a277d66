import fs, { existsSync, readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { toHex } from '../../../src/base/bytes.js';
import type { KeyRotation } from '../../../src/signing/index.js';
import { rotateServerKey } from '../../../server/keys/key-rotation.js';
import { openServerKeys } from '../../../server/keys/server-keys.js';
import { keyOfReleases } from '../../../server/keys/release-key.js';
import { createSecret } from '../../../server/base/secret-files.js';
import { systemClock } from '../../../server/base/clock.js';
import { openEngine, type Engine } from '../../../server/store/sqlite/engine.js';
import type { SimulatedDisk } from './disk.js';
import { BrokenPromise } from './model.js';

/** Whatever the files of keys are changed by. */
const steps = [
  'openSync', 'fchmodSync', 'writeSync', 'fsyncSync', 'linkSync', 'renameSync', 'unlinkSync',
] as const;

/** Lets a number of steps happen; the one after them kills the process. */
export class Fuse {
  constructor(private left: number) {}

  /** The process has died; whatever is thrown says so. */
  get isOut(): boolean {
    return this.left < 0;
  }

  /** @throws when no step is left, and ever after. */
  step(): void {
    this.left -= 1;
    if (this.isOut) throw new Error('the process died between two steps');
  }

  /** Runs the product's own code over the files of keys, each of whose steps counts. */
  async over<T>(run: () => T | Promise<T>): Promise<T> {
    const files = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
    const real = new Map(steps.map((name) => [name, files[name]!]));
    for (const [name, action] of real) {
      files[name] = (...given) => {
        // Opening to read changes nothing.
        if (name !== 'openSync' || given[1] !== 'r') this.step();
        return action(...given);
      };
    }
    syncBuiltinESMExports();
    try {
      return await run();
    } finally {
      for (const [name, action] of real) files[name] = action;
      syncBuiltinESMExports();
    }
  }
}

/** What a change of the key takes, two of them in the store: every shorter fuse ends within it. */
export const stepsOfChange = 29;
/** What a start takes at most that finishes a change. */
export const stepsOfStart = 10;

/** What tells which key signed. */
const releasesOf = (engine: Engine): Parameters<typeof keyOfReleases>[0] => ({
  studies: async () => engine.studies(),
  releases: async (...which) => engine.releases(...which),
});

const keyFile = (disk: SimulatedDisk): string => join(disk.folder, 'server.key');

/** The key that a world begins with. As in a first start, the database comes before it. */
export function writeFirstKey(disk: SimulatedDisk, seed: Uint8Array): void {
  openEngine(disk.folder, systemClock).close();
  createSecret(keyFile(disk), () => toHex(seed));
}

/**
 * What `keelson keys rotate` does to a folder whose server is stopped, until the fuse ends.
 * @returns the record; null when the process died meanwhile.
 */
export async function changeKey(
  disk: SimulatedDisk, engine: Engine, fuse: Fuse, nowMs: number,
): Promise<KeyRotation | null> {
  const store = {
    ...releasesOf(engine),
    rotations: async () => engine.rotations(),
    addRotation: async (record: KeyRotation, atMs: number) => {
      fuse.step();
      engine.addRotation(record, atMs);
      // Written, and not yet synced: what a death here leaves of it is for the disk to say.
      fuse.step();
      disk.markSynced();
    },
  };
  try {
    return await fuse.over(() => rotateServerKey(keyFile(disk), store, nowMs));
  } catch (error) {
    if (fuse.isOut) return null;
    throw error;
  }
}

/**
 * The seed of the key in force, as a start of the server finds it; a change that was cut short is
 * finished.
 * @throws when the fuse ends meanwhile.
 */
export async function keyInForce(
  disk: SimulatedDisk, engine: Engine, fuse: Fuse,
): Promise<Uint8Array> {
  const rotations = engine.rotations();
  const signedWith = rotations.length === 0 ? await keyOfReleases(releasesOf(engine)) : null;
  const { seed } = await fuse.over(() => openServerKeys(disk.folder, rotations, signedWith));
  return seed;
}

/** No file of keys may still hold one of these. @param seeds hexadecimal. */
export function mustBeErased(disk: SimulatedDisk, seeds: Iterable<string>): void {
  if (!existsSync(disk.folder)) return;
  const names = readdirSync(disk.folder).filter((name) => name.startsWith('server.key'));
  const texts = names.map((name) => readFileSync(join(disk.folder, name), 'utf8').trim());
  for (const seed of seeds) {
    const at = texts.indexOf(seed);
    if (at >= 0) throw new BrokenPromise(`a key that was given up is still in ${names[at]!}`);
  }
}
