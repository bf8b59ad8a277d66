import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Chance } from '../simulation/chance.js';
import type { TracedCall } from './trace-log.js';

type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number };

/** A file's bytes as they are after a power cut, and what was written since. */
interface File {
  durable: Buffer;
  pending: Change[];
}

type Naming = { readonly path: string; readonly file: File | null };

/** What a power cut leaves of changes that no sync covers. */
export const cuts = ['none', 'all', 'torn'] as const;
export type Cut = (typeof cuts)[number];

/**
 * A folder on a disk that keeps only what was synced: bytes by a sync of their file, names by a
 * sync of the folder. What was not may be there, or not, or in part, in any order: a disk and a
 * file system promise no more.
 */
export class PowerModel {
  readonly #open = new Map<number, { path: string; file: File | null; position: number }>();
  readonly #live = new Map<string, File>();
  readonly #durable = new Map<string, File>();
  #unnamed: Naming[] = [];
  /** Calls on the folder that the model does not know: its answers would be worth nothing. */
  readonly unknown = new Set<string>();

  /** @param ignoreSyncs a planted fault: a disk whose syncs do nothing. */
  constructor(private readonly folder: string, private readonly ignoreSyncs = false) {}

  /** True when the call makes something of the folder durable. */
  isSync({ name, args }: TracedCall): boolean {
    return (name === 'fsync' || name === 'fdatasync') && this.#open.has(Number(args[0]));
  }

  apply(call: TracedCall): void {
    const { name, args, result } = call;
    if (name === 'openat') return this.#opened(args[1]!, args[2]!, result);
    if (name === 'link' || name === 'rename') return this.#renamed(name, args[0]!, args[1]!);
    if (name === 'unlink') return this.#within(args[0]!) ? this.#name(args[0]!, null) : undefined;
    if (name === 'mkdir') return;
    const descriptor = Number(args[0]);
    const open = this.#open.get(descriptor);
    if (open === undefined) return;
    if (name === 'close') this.#open.delete(descriptor);
    else if (name === 'pwrite64') this.#write(open.file!, Number(args[3]), args[1]!, result);
    else if (name === 'write') {
      this.#write(open.file!, open.position, args[1]!, result);
      open.position += result;
    } else if (name === 'ftruncate') open.file!.pending.push({ size: Number(args[1]) });
    else if (name === 'fsync' || name === 'fdatasync') this.#sync(open.file);
    else this.unknown.add(name);
  }

  /** Makes the folder as the next start would find it. */
  leave(image: string, cut: Cut, chance: Chance): void {
    rmSync(image, { recursive: true, force: true });
    mkdirSync(image, { recursive: true, mode: 0o700 });
    const names = new Map(this.#durable);
    const kept = cut === 'all'
      ? this.#unnamed.length : cut === 'none' ? 0 : chance.below(this.#unnamed.length + 1);
    for (const { path, file } of this.#unnamed.slice(0, kept)) {
      if (file === null) names.delete(path);
      else names.set(path, file);
    }
    for (const [path, file] of names) {
      // Shared memory beside the log; SQLite makes it anew.
      if (path.endsWith('-shm')) continue;
      writeFileSync(join(image, basename(path)), after(file, cut, chance), { mode: 0o600 });
    }
  }

  #within(path: string): boolean {
    return dirname(path) === this.folder;
  }

  #opened(path: string, flags: string, descriptor: number): void {
    if (path === this.folder) this.#open.set(descriptor, { path, file: null, position: 0 });
    if (!this.#within(path)) return;
    let file = this.#live.get(path);
    if (file === undefined) {
      file = { durable: Buffer.alloc(0), pending: [] };
      this.#name(path, file);
    } else if (flags.includes('O_TRUNC')) file.pending.push({ size: 0 });
    this.#open.set(descriptor, { path, file, position: 0 });
  }

  #renamed(name: 'link' | 'rename', from: string, to: string): void {
    if (!this.#within(from) || !this.#within(to)) return;
    this.#name(to, this.#live.get(from)!);
    if (name === 'rename') this.#name(from, null);
  }

  #name(path: string, file: File | null): void {
    if (file === null) this.#live.delete(path);
    else this.#live.set(path, file);
    this.#unnamed.push({ path, file });
  }

  #write(file: File, offset: number, text: string, length: number): void {
    file.pending.push({ offset, bytes: Buffer.from(text.slice(0, length), 'latin1') });
  }

  /** @param file null for the folder itself. */
  #sync(file: File | null): void {
    if (this.ignoreSyncs) return;
    if (file !== null) {
      file.durable = after(file, 'all');
      file.pending = [];
      return;
    }
    this.#durable.clear();
    for (const [path, named] of this.#live) this.#durable.set(path, named);
    this.#unnamed = [];
  }
}

const sectorBytes = 512;

function after(file: File, cut: Cut, chance?: Chance): Buffer {
  let bytes = file.durable;
  if (cut === 'none') return bytes;
  for (const change of file.pending) {
    if (cut === 'torn' && chance!.happens(0.5)) continue;
    bytes = 'size' in change
      ? resized(bytes, change.size) : written(bytes, change, cut === 'torn' ? chance : undefined);
  }
  return bytes;
}

function resized(bytes: Buffer, size: number): Buffer {
  const result = Buffer.alloc(size);
  bytes.copy(result, 0, 0, size);
  return result;
}

/** With `tearing`, one write in four ends at the end of some sector. */
function written(
  bytes: Buffer, change: { offset: number; bytes: Buffer }, tearing?: Chance,
): Buffer {
  const { offset } = change;
  const sectors = Math.ceil(change.bytes.length / sectorBytes);
  const torn = tearing !== undefined && tearing.happens(0.25);
  const part = torn
    ? change.bytes.subarray(0, tearing.below(sectors + 1) * sectorBytes) : change.bytes;
  const result = Buffer.alloc(Math.max(bytes.length, offset + part.length));
  bytes.copy(result);
  part.copy(result, offset);
  return result;
}
