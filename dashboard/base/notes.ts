import { useEffect, useState } from 'preact/hooks';
import { systemClock } from '../../client/base/clock.js';
import { releaseAt } from './compare.js';
import type { Series } from './model.js';

/** An operator's note about a study, and the time that it is about. */
export interface StudyNote {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

/** Most notes on a page, the newest ones. The server has all of them. */
export const notesShown = 20;

/** A page that stays open asks again so often. */
const againMs = 300_000;

/** The notes about a study, oldest first. Those of before stay if the server does not answer. */
export function useNotes(study: string): readonly StudyNote[] {
  const [notes, setNotes] = useState<readonly StudyNote[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    let cancel = (): void => undefined;
    const ask = async (): Promise<void> => {
      const found = await read(study, stop.signal);
      if (stop.signal.aborted) return;
      if (found !== null) setNotes(found);
      cancel = systemClock.after(againMs, () => void ask());
    };
    void ask();
    return () => {
      stop.abort();
      cancel();
    };
  }, [study]);
  return notes;
}

async function read(study: string, signal: AbortSignal): Promise<readonly StudyNote[] | null> {
  try {
    const answer = await fetch(`/v1/studies/${encodeURIComponent(study)}/notes`, { signal });
    if (!answer.ok) return null;
    const { notes } = (await answer.json()) as { readonly notes: readonly StudyNote[] };
    return notes.toSorted((one, two) => one.atMs - two.atMs).slice(-notesShown);
  } catch {
    return null;
  }
}

/** A mark of a chart: its label, as a note's number in the list, and its place on the axis. */
export interface NotePlace {
  readonly label: string;
  readonly at: number;
}

/**
 * The places of notes on a chart. Over epochs, that is the first release that closed after the
 * note's time. A note before the first release or after the last one has no place.
 */
export function notePlaces(
  notes: readonly StudyNote[], { times, epochs }: Series, axis: 'time' | 'epoch',
): readonly NotePlace[] {
  const [first, last] = [times[0] ?? Infinity, times.at(-1) ?? -Infinity];
  return notes.flatMap(({ atMs }, i) => {
    if (atMs < first || atMs > last) return [];
    const at = axis === 'time' ? atMs : epochs[Math.min(epochs.length - 1,
      releaseAt(times, atMs - 1) + 1)]!;
    return [{ label: String(i + 1), at }];
  });
}
