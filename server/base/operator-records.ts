import { closeSync, fsyncSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, InvalidInputError } from '../../src/base/errors.js';
import { createDraft } from './owned-files.js';
import { syncFolder } from './secret-files.js';

/** The studies that the operator has paused, by id. */
export interface PausedStudies {
  has(studyId: string): boolean;
  /** Durable when it returns. @throws the system's error when it cannot be written. */
  set(studyId: string, isPaused: boolean): void;
}

/** Sealed studies in which a message of another server was found to be wrong, by id. */
export interface HeldStudies {
  /** The epoch in which that was found, until the operator resumes the study; null for others. */
  epochOf(studyId: string): bigint | null;
  /** Durable when it returns. @throws the system's error when it cannot be written. */
  set(studyId: string, epoch: bigint | null): void;
}

/** An operator's public note about a study at some time. */
export interface OperatorNote {
  /** Grows by one with each note of the server. */
  readonly id: number;
  readonly studyId: string;
  /** Unix time that the note is about. */
  readonly atMs: number;
  readonly text: string;
}

/** The notes of a server's operator. */
export interface OperatorNotes {
  /** The notes about a study, by the time that they are about. */
  of(studyId: string): readonly OperatorNote[];
  /** Durable when it returns. @returns undefined if the server has no room for it. */
  add(note: Omit<OperatorNote, 'id'>): OperatorNote | undefined;
  /** Durable when it returns. @returns whether there was such a note. */
  remove(studyId: string, id: number): boolean;
}

/** Most notes of a server. One more is refused. */
export const notesMost = 1_000;
/** Most characters of a note. */
export const noteLength = 280;
/** The most that such a file can hold. */
const bytesMost = 4 << 20;

interface Records {
  readonly version: 1;
  /** Ids of studies. */
  readonly paused: readonly string[];
  /** Epochs by the ids of studies. Files of before sealed runs were proved do not have it. */
  readonly held?: Readonly<Record<string, string>>;
  readonly nextNote: number;
  readonly notes: readonly OperatorNote[];
}

/**
 * The decisions and notes of the operator, in `operator.json` of the data folder: paused studies,
 * held ones, which wait for a decision, and notes. Where several servers share a database, each has
 * its own.
 */
export interface OperatorRecords {
  readonly paused: PausedStudies;
  readonly held: HeldStudies;
  readonly notes: OperatorNotes;
}

/** @throws InvalidInputError when the file cannot be read as such. */
export function openOperatorRecords(directory: string): OperatorRecords {
  const path = join(directory, 'operator.json');
  return recordsOver(readRecords(path), (records) => writeRecords(path, records));
}

/** Records that a restart forgets. */
export function recordsInMemory(): OperatorRecords {
  return recordsOver(fresh(), () => undefined);
}

function fresh(): Records {
  return { version: 1, paused: [], nextNote: 1, notes: [] };
}

/** @param save throws when it cannot save: then nothing has changed. */
function recordsOver(first: Records, save: (records: Records) => void): OperatorRecords {
  let records = first;
  const change = (next: Records): void => {
    save(next);
    records = next;
  };
  const paused: PausedStudies = {
    has: (studyId) => records.paused.includes(studyId),
    set(studyId, isPaused) {
      if (records.paused.includes(studyId) === isPaused) return;
      const others = records.paused.filter((each) => each !== studyId);
      change({ ...records, paused: isPaused ? [...others, studyId] : others });
    },
  };
  const held: HeldStudies = {
    epochOf: (studyId) => {
      const epoch = records.held?.[studyId];
      return epoch === undefined ? null : BigInt(epoch);
    },
    set(studyId, epoch) {
      const others = Object.entries(records.held ?? {}).filter(([id]) => id !== studyId);
      const entries = epoch === null ? others : [...others, [studyId, `${epoch}`]];
      change({ ...records, held: Object.fromEntries(entries) as Record<string, string> });
    },
  };
  const notes: OperatorNotes = {
    of: (studyId) => records.notes.filter((note) => note.studyId === studyId)
      .sort((one, two) => one.atMs - two.atMs),
    add(note) {
      if (records.notes.length >= notesMost) return undefined;
      const added = { ...note, id: records.nextNote };
      change({ ...records, nextNote: added.id + 1, notes: [...records.notes, added] });
      return added;
    },
    remove(studyId, id) {
      const left = records.notes.filter((note) => note.id !== id || note.studyId !== studyId);
      if (left.length === records.notes.length) return false;
      change({ ...records, notes: left });
      return true;
    },
  };
  return { paused, held, notes };
}

function readRecords(path: string): Records {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return fresh();
    throw unreadable(path, `it cannot be read (${code})`);
  }
  if (text.length > bytesMost) throw unreadable(path, 'it is too large');
  const read = parsed(text);
  if (!isRecords(read)) throw unreadable(path, 'it does not hold what this server writes there');
  return read;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isRecords(read: unknown): read is Records {
  const { version, paused, held, nextNote, notes } = fieldsOf(read);
  const epochs = Object.values(fieldsOf(held));
  return version === 1
    && epochs.every((epoch) => typeof epoch === 'string' && /^[0-9]{1,20}$/.test(epoch)) && typeof nextNote === 'number'
    && Array.isArray(paused) && paused.every((id) => typeof id === 'string')
    && Array.isArray(notes) && notes.every((note) => {
    const { id, studyId, atMs, text } = fieldsOf(note);
    return typeof id === 'number' && typeof studyId === 'string' && typeof atMs === 'number'
      && typeof text === 'string';
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
}

/** A study must not run because the file that records its pause is damaged. */
function unreadable(path: string, why: string): InvalidInputError {
  return new InvalidInputError(`${path} says which studies are paused or held, and ${why}: mend or `
    + 'restore it; or remove it, and then all studies run and all notes are gone', { path });
}

/** A crash leaves either the old file or the new one. */
function writeRecords(path: string, records: Records): void {
  const draft = `${path}.new`;
  const file = createDraft(draft);
  try {
    writeSync(file, `${JSON.stringify(records)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(path);
}
