import { open, readFile, realpath, rename, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { concatBytes } from '../../src/base/bytes.js';
import { codeOf, KeelsonError } from '../../src/base/errors.js';
import type { Outbox, OutboxBatch, OutboxContents, OutboxItem, OutboxPin } from './contract.js';
import { encodeFrame, fileMagic, scanFrames } from './frames.js';
import { syncFolder } from './folder.js';
import { lockFile, type Unlock } from './lock.js';
import { decodeRecords, encodeRecord, sequenceAfter, type OutboxRecord } from './records.js';

export { openSeed } from './seed-file.js';

/**
 * A file with unsettled rows is rewritten when it is this large and most of it is settled. One
 * without is rewritten at once: it would keep rows in clear that are no longer needed.
 */
const compactionBytes = 256 * 1024;

/**
 * Opens or creates the outbox file of one contributor in one study. It holds unsettled rows: mode
 * 0600.
 * @param location a path; its folder must exist.
 * @throws KeelsonError('outbox-failed') when it is in use, damaged, not an outbox, or cannot be
 *   written.
 */
export async function openOutbox(location: string): Promise<Outbox> {
  const wanted = resolve(location);
  try {
    // Compaction may replace the file itself, so the folder's real path identifies it.
    const path = join(await realpath(dirname(wanted)), basename(wanted));
    const unlock = await lockFile(path);
    try {
      return await FileOutbox.open(path, unlock);
    } catch (error) {
      await unlock();
      throw error;
    }
  } catch (error) {
    throw asOutboxError(error, wanted);
  }
}

interface QueuedWrite {
  readonly record: OutboxRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Append-only frames. Writes requested during one fsync share the next one. */
class FileOutbox implements Outbox {
  private readonly items = new Map<number, OutboxItem>();
  private pinned: OutboxPin | null = null;
  private nextSequence = 1n;
  private queue: QueuedWrite[] = [];
  /** Ids settled since the last write. The next write includes them. */
  private settledIds: number[] = [];
  private writing: Promise<void> | null = null;
  private failure: KeelsonError | null = null;

  private constructor(
    private readonly path: string,
    private file: FileHandle,
    private readonly unlock: Unlock,
    private sizeBytes: number,
  ) {}

  static async open(path: string, unlock: Unlock): Promise<FileOutbox> {
    const file = await open(path, 'a+', 0o600);
    try {
      const buffer = await readFile(path);
      // A copy as Uint8Array: slices of a Buffer would share its memory.
      const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      const { payloads, goodBytes } = scanFrames(bytes);
      if (goodBytes < bytes.length) await file.truncate(goodBytes);
      const outbox = new FileOutbox(path, file, unlock, goodBytes);
      for (const payload of payloads) {
        for (const record of decodeRecords(payload)) outbox.apply(record);
      }
      if (goodBytes === 0) await outbox.append(fileMagic);
      await syncFolder(path);
      return outbox;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async load(): Promise<OutboxContents> {
    return {
      pin: this.pinned, items: [...this.items.values()].sort((left, right) => left.id - right.id),
      nextSequence: this.nextSequence,
    };
  }

  pin(pin: OutboxPin): Promise<void> {
    return this.write({ kind: 'pin', ...pin });
  }

  keep(
    id: number, values: Float64Array, last: boolean, columns = 0, texts?: readonly string[],
  ): Promise<void> {
    return this.write({
      kind: 'kept', id, last, values, columns, ...(texts !== undefined && { texts }),
    });
  }

  sign(id: number, last: boolean, batches: readonly OutboxBatch[]): Promise<void> {
    return this.write({ kind: 'signed', id, last, batches: batches.map(plainBatch) });
  }

  settle(id: number): void {
    if (!this.items.delete(id)) return;
    this.settledIds.push(id);
    // No item is open. Write this now, because a later run would otherwise ask the server about the
    // item.
    if (this.allSettled) this.startWriting();
  }

  /** True if no item is open, and the file does not show this yet. */
  private get allSettled(): boolean {
    return this.items.size === 0 && this.settledIds.length > 0;
  }

  async close(): Promise<void> {
    while (this.writing !== null) await this.writing;
    if (this.settledIds.length > 0 && this.failure === null) await this.drain();
    this.failure ??= new KeelsonError('closed', 'the outbox is closed');
    await this.file.close();
    await this.unlock();
  }

  private write(record: OutboxRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) throw this.failure;
      this.apply(record);
      this.queue.push({ record, resolve, reject });
      this.startWriting();
    });
  }

  private apply(record: OutboxRecord): void {
    if (record.kind === 'pin') {
      const { serverKey, studyId, contributor } = record;
      this.pinned = { serverKey, studyId, contributor };
    } else if (record.kind === 'settled') {
      this.items.delete(record.id);
    } else if (record.kind === 'next') {
      this.nextSequence = record.sequence;
    } else {
      if (record.kind === 'signed') {
        this.nextSequence = sequenceAfter(this.nextSequence, record.batches);
      }
      this.items.set(record.id, itemOf(record));
    }
  }

  private startWriting(): void {
    if (this.writing !== null || this.failure !== null) return;
    this.writing = this.drain().finally(() => {
      this.writing = null;
      if (this.queue.length > 0 || this.allSettled) this.startWriting();
    });
  }

  /** Writes everything queued as one frame, and waits until it is on the medium. Never rejects. */
  private async drain(): Promise<void> {
    const writes = this.queue;
    this.queue = [];
    const settled = this.settledIds;
    this.settledIds = [];
    try {
      const mostlySettled =
        this.sizeBytes > compactionBytes && this.liveBytes() < this.sizeBytes / 2;
      if (mostlySettled || (settled.length > 0 && this.items.size === 0)) {
        // The memory also holds batches that were just queued.
        await this.compact();
      } else {
        // Settled ids come last: an item that was signed and settled since the last write must not
        // reappear.
        const ends = settled.map((id): OutboxRecord => ({ kind: 'settled', id }));
        const records = [...writes.map((write) => write.record), ...ends];
        if (records.length > 0) {
          await this.append(encodeFrame(concatBytes(...records.map(encodeRecord))));
        }
      }
      for (const write of writes) write.resolve();
    } catch (error) {
      this.failure = asOutboxError(error, this.path);
      for (const write of [...writes, ...this.queue.splice(0)]) write.reject(this.failure);
    }
  }

  private async append(bytes: Uint8Array): Promise<void> {
    await writeAll(this.file, bytes);
    await this.file.datasync();
    this.sizeBytes += bytes.length;
  }

  /** Writes the open items to a new file, which then replaces the old one. */
  private async compact(): Promise<void> {
    const next = `${this.path}.next`;
    const file = await open(next, 'w', 0o600);
    try {
      const payload = concatBytes(...this.liveRecords().map(encodeRecord));
      const bytes = payload.length === 0 ? fileMagic : concatBytes(fileMagic, encodeFrame(payload));
      await writeAll(file, bytes);
      await file.datasync();
      await rename(next, this.path);
      await syncFolder(this.path);
      await this.file.close();
      this.file = file;
      this.sizeBytes = bytes.length;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private liveRecords(): OutboxRecord[] {
    const { nextSequence: sequence } = this;
    const pins: OutboxRecord[] = this.pinned === null ? [] : [{ kind: 'pin', ...this.pinned }];
    return [
      ...pins,
      ...(sequence === 1n ? [] : [{ kind: 'next', sequence } as const]),
      ...[...this.items.values()].map((item): OutboxRecord => {
        const { id, last, values, batches, columns = 0, texts } = item;
        if (values === null) return { kind: 'signed', id, last, batches };
        return { kind: 'kept', id, last, values, columns, ...(texts !== undefined && { texts }) };
      }),
    ];
  }

  private liveBytes(): number {
    let bytes = 0;
    for (const { values, batches } of this.items.values()) {
      bytes += values?.byteLength ?? 0;
      for (const batch of batches) bytes += batch.body.length + 128;
    }
    return bytes;
  }
}

function itemOf(record: OutboxRecord & { readonly kind: 'kept' | 'signed' }): OutboxItem {
  const { id, last } = record;
  if (record.kind === 'signed') return { id, last, values: null, batches: record.batches };
  const { values, columns, texts } = record;
  return {
    id, last, values, batches: [], ...(columns > 0 && { columns }),
    ...(texts !== undefined && { texts }),
  };
}

/** The batch without the fields that a channel adds: the outbox must not keep the channel alive. */
function plainBatch({ sequence, epoch, body, signature }: OutboxBatch): OutboxBatch {
  return { sequence, epoch, body, signature };
}

/** Writes all bytes. A short write would tear a frame in the middle of the file. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written);
    written += bytesWritten;
  }
}

function asOutboxError(error: unknown, path: string): KeelsonError {
  if (error instanceof KeelsonError) {
    if (error.code !== 'outbox-failed' || 'path' in error.details) return error;
    const details = { ...error.details, path };
    return new KeelsonError('outbox-failed', `${path}: ${error.message}`, { details });
  }
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'its folder does not exist: make it, or name another file',
    ENOTDIR: 'a part of the path is not a folder: name another file',
    EISDIR: 'it is a folder: name a file in it',
    EACCES: 'permission denied: name a file that you may write',
    ENOSPC: 'the disk is full: make room and try again',
  };
  const why = reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
  const text = `the outbox ${path} cannot be used: ${why}`;
  return new KeelsonError('outbox-failed', text, { cause: error, details: { path } });
}
