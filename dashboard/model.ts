import type { StudyDocument, VerifiedRelease } from '../client/index.js';

/** How many releases a page keeps, so that its memory does not grow for as long as it is open. */
export const releasesKept = 2000;

/** What `/v1/studies` says of a study. */
export interface StudyEntry {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly document: StudyDocument;
}

/** One column over epochs: null where a release refused. */
export interface Series {
  readonly epochs: readonly number[];
  readonly values: readonly (number | null)[];
  readonly lows: readonly (number | null)[];
  readonly highs: readonly (number | null)[];
}

/** The number at `place` of every release, with its 95 % interval where the release has one. */
export function seriesOf(releases: readonly VerifiedRelease[], place: number): Series {
  const outcomes = releases.map(({ release }) => release.outcome);
  const pick = (read: 'estimate' | 'low' | 'high'): (number | null)[] => outcomes.map((outcome) => {
    if (outcome.kind === 'refused') return null;
    return (read === 'estimate' ? outcome.estimate : outcome.interval95?.[read])?.[place] ?? null;
  });
  return {
    epochs: releases.map(({ release }) => Number(release.epoch)),
    values: pick('estimate'), lows: pick('low'), highs: pick('high'),
  };
}

/** Adds a release, the oldest forgotten beyond `releasesKept`. */
export function withRelease(releases: readonly VerifiedRelease[], next: VerifiedRelease): VerifiedRelease[] {
  return [...releases, next].slice(-releasesKept);
}

/** At most six digits that say something. */
export function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? 'none' : String(Number(value.toPrecision(6)));
}

/** Charts of one study at most: a matrix has more numbers than a page can show. */
export const chartsMax = 12;

/** The columns where an estimate has one number per column; else numbered entries, for nothing is known of them here. */
export function labelsOf(releases: readonly VerifiedRelease[]): readonly string[] {
  const outcome = releases.findLast(({ release }) => release.outcome.kind === 'value')?.release.outcome;
  const columns = releases.at(-1)?.release.columns ?? [];
  if (outcome?.kind !== 'value' || outcome.estimate.length === columns.length) return columns.slice(0, chartsMax);
  return outcome.estimate.slice(0, chartsMax).map((_value, place) => `entry ${place + 1} of ${outcome.estimate.length}`);
}
