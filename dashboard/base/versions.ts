import { exact } from './format.js';
import { factsOf } from './facts.js';
import type { NotePlace } from './notes.js';
import type { Followed } from './session.js';

/** A fact that two versions of a study do not share. */
export interface Change {
  readonly name: string;
  /** The fact in the newer version; null if it has none. */
  readonly now: string | null;
  readonly before: string | null;
}

/** The versions of a study: those with its name, the newest first. It is one of them. */
export function versionsOf(
  { entry }: Followed, list: readonly Followed[],
): readonly Followed[] {
  return list.filter((each) => each.entry.name === entry.name);
}

/** The name of a version beside the others; null for a study with one version. */
export function versionName(followed: Followed, list: readonly Followed[]): string | null {
  const versions = versionsOf(followed, list);
  const at = versions.indexOf(followed);
  if (versions.length < 2) return null;
  return at === 0 ? 'newest version' : at === versions.length - 1 ? 'first version'
    : `version ${followed.entry.id.slice(0, 8)}`;
}

/** The changes that a version made, among all the facts on its page. */
export function changesOf(newer: Followed, older: Followed): readonly Change[] {
  const [now, before] = [allFacts(newer), allFacts(older)];
  return [...new Set([...now.keys(), ...before.keys()])].flatMap((name) => {
    const change = { name, now: now.get(name) ?? null, before: before.get(name) ?? null };
    return change.now === change.before ? [] : [change];
  });
}

function allFacts({ entry: { document }, questions }: Followed): ReadonlyMap<string, string> {
  const isList = document.questions.length > 1;
  const { privacy, budget, title = '', description = '' } = document;
  const all = questions.flatMap((asked) => factsOf(document, asked).map(({ name, text }) =>
    [isList ? `${asked.name}: ${name.toLowerCase()}` : name, text] as const));
  return new Map([
    ...all, ['Title', title], ['Description', description],
    ['One release', `epsilon ${exact(privacy.epsilon)}, delta ${exact(privacy.delta)}`],
    ['Privacy budget', `epsilon ${exact(budget.epsilon)}, delta ${exact(budget.delta)}`],
  ]);
}

/**
 * The places where a newer version begins to answer, on a time axis with lines of it and of the one
 * before it.
 * @param lines a version's name, its place among the versions of that name (0: the newest), and the
 *   times of its answers.
 */
export function versionPlaces(
  lines: readonly { readonly name: string; readonly version: number;
    readonly times: readonly number[]; }[],
): readonly NotePlace[] {
  const places = lines.flatMap(({ name, version, times: [first] }) =>
    (first !== undefined && lines.some((each) => each.name === name && each.version > version)
      ? [first] : []));
  return [...new Set(places)].map((at) => ({ label: 'new version', at }));
}
