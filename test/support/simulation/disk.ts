import {
  copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../server/base/clock.js';
import { openEngine, type Engine } from '../../../server/store/sqlite/engine.js';
import type { Chance } from './chance.js';
import { memoryFolder } from '../memory-folder.js';

const nameOf = { database: 'keelson.db', log: 'keelson.db-wal', mark: 'keelson.mark' } as const;

/**
 * A data folder with the real SQLite engine on it, and the power cord.
 *
 * SQLite appends each transaction to its log and syncs it. `markSynced` says that this has
 * happened; until then a crash keeps an arbitrary prefix of what was appended since, the rest gone
 * or overwritten by noise. Whatever shrinks the log (a checkpoint) has synced it before by SQLite's
 * own rules, so then nothing is in doubt.
 *
 * The product writes its mark after the log is synced, in the same call. So a mark that is newer
 * than the last sync is there after a crash only when all of the log is, and then by chance.
 */
export class SimulatedDisk {
  readonly #root = mkdtempSync(join(memoryFolder, 'keelson-simulation-'));
  #generation = 0;
  #engine: Engine | null = null;
  #syncedBytes = 0;
  #syncedMark: Buffer | null = null;

  /** Planted: the mark is on the disk before the log. */
  marksFirst = false;
  /** Torn logs that were left behind so far: the tail was cut inside, or replaced. */
  torn = 0;

  constructor() {
    mkdirSync(this.folder, { mode: 0o700 });
  }

  /** Where everything is until the next crash. */
  get folder(): string {
    return join(this.#root, String(this.#generation));
  }

  boot(clock: Clock): Engine {
    const { folder } = this;
    this.#engine = openEngine(folder, clock);
    this.markSynced();
    return this.#engine;
  }

  markSynced(): void {
    this.#syncedBytes = this.#logBytes();
    const path = join(this.folder, nameOf.mark);
    this.#syncedMark = existsSync(path) ? readFileSync(path) : null;
  }

  /** What was durable stays, what was in doubt is decided by chance. */
  crash(chance: Chance): void {
    const from = this.folder;
    const bytes = this.#logBytes();
    this.#generation += 1;
    const to = this.folder;
    mkdirSync(to, { recursive: true, mode: 0o700 });
    if (existsSync(join(from, nameOf.database))) {
      copyFileSync(join(from, nameOf.database), join(to, nameOf.database));
    }
    // Names that came and went are as they were left: what a crash may do to those has tests of its
    // own.
    for (const name of readdirSync(from)) {
      if (!name.startsWith(nameOf.database)) copyFileSync(join(from, name), join(to, name));
    }
    const isWhole = bytes === 0 || this.#tear(join(from, nameOf.log), join(to, nameOf.log), chance);
    const keepsMark = this.marksFirst || (isWhole && chance.fork('mark').happens(0.5));
    if (!keepsMark && this.#syncedMark !== null) {
      writeFileSync(join(to, nameOf.mark), this.#syncedMark);
    }
    // Closing checkpoints, but into the folder that nobody reads any more.
    this.#engine?.close();
    this.#engine = null;
    rmSync(from, { recursive: true, force: true });
  }

  remove(): void {
    this.#engine?.close();
    this.#engine = null;
    rmSync(this.#root, { recursive: true, force: true });
  }

  /** @returns whether all of the log is left. */
  #tear(from: string, to: string, chance: Chance): boolean {
    const log = readFileSync(from);
    const synced = Math.min(this.#syncedBytes, log.length);
    const doubt = log.length - synced;
    if (doubt > 0 && !chance.happens(0.25)) {
      const keep = synced + (chance.happens(0.3) ? 0 : chance.below(doubt));
      this.torn += 1;
      if (chance.happens(0.5)) {
        writeFileSync(to, log.subarray(0, keep));
        return false;
      }
      log.set(chance.bytes(Math.min(4_096, log.length - keep)), keep);
      writeFileSync(to, log);
      return false;
    }
    writeFileSync(to, log);
    return true;
  }

  #logBytes(): number {
    return statSync(join(this.folder, nameOf.log), { throwIfNoEntry: false })?.size ?? 0;
  }
}
