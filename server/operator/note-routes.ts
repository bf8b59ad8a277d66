import { findStudy, type Exchange } from './exchange.js';
import { HttpError } from './http-error.js';
import {
  noteLength, notesMost, type OperatorNote, type OperatorNotes,
} from '../base/operator-records.js';

/** The public part of a note. */
type PublicNote = Omit<OperatorNote, 'studyId'>;

/** Notes of the operator about a study. Public: the study's page shows them. */
export function studyNotes({ hub, query, notes }: Exchange): {
  readonly notes: readonly PublicNote[];
} {
  const { studyId } = findStudy(hub, query.get('study'));
  return { notes: publicNotes(notes, studyId) };
}

/** The notes about a study as everybody reads them. */
export function publicNotes(notes: OperatorNotes, studyId: string): readonly PublicNote[] {
  return notes.of(studyId).map(({ id, atMs, text }) => ({ id, atMs, text }));
}

/** Adds a note: `?study=`, `&text=`, and `&at=` in Unix milliseconds (default: now). */
export function addNote({ hub, query, notes, clock }: Exchange): PublicNote {
  const { studyId } = findStudy(hub, query.get('study'));
  const text = (query.get('text') ?? '').trim();
  // Neither line breaks nor marks that turn the direction of the text around them.
  if (text === '' || [...text].length > noteLength || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new HttpError(
      400, 'bad-request', `a note is one line of 1 to ${noteLength} visible characters: ?text=`,
    );
  }
  const at = query.get('at');
  if (at !== null && !/^\d{1,15}$/.test(at)) {
    throw new HttpError(400, 'bad-request', 'say when: ?at= and a Unix time in milliseconds');
  }
  const atMs = at === null ? Math.round(clock.nowMs()) : Number(at);
  const added = notes.add({ studyId, atMs, text });
  if (added === undefined) {
    throw new HttpError(
      403, 'too-many-notes', `this server has ${notesMost} notes: remove one first`,
    );
  }
  return { id: added.id, atMs, text };
}

/** Removes a note: `?study=` and `&note=`. */
export function removeNote({ hub, query, notes, response }: Exchange): void {
  const { studyId } = findStudy(hub, query.get('study'));
  const note = query.get('note') ?? '';
  if (!/^\d{1,15}$/.test(note) || !notes.remove(studyId, Number(note))) {
    throw new HttpError(404, 'not-found', 'there is no such note about this study');
  }
  response.writeHead(204).end();
}
