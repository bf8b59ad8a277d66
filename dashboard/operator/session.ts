import { signal } from '@preact/signals';
import { systemClock } from '../../client/base/clock.js';
import type { Evidence, Health, OperatorHistory, Progress } from './model.js';

/** The newest figures, and when they arrived by the page's own clock. */
export interface Seen {
  readonly progress: Progress;
  readonly health: Health;
  readonly atMs: number;
  /** Batches accepted per second since the answer before, by study id; null at first. */
  readonly rates: Readonly<Record<string, number>> | null;
}

/** `asking`: the page does not know yet whether this browser is signed in. */
export const access = signal<'asking' | 'out' | 'in'>('asking');
export const seen = signal<Seen | null>(null);
/** Outcomes and figures over time; null before the first answer. */
export const past = signal<OperatorHistory | null>(null);
/** The reason why the figures may be out of date, in words; empty if they are up to date. */
export const trouble = signal('');

const everyMs = 2_000;
const historyEveryMs = 10_000;
const timeoutMs = 8_000;
let historyAtMs = -Infinity;
let cancelNext = (): void => undefined;

/** Asks for the figures now, and then every two seconds as long as this browser is signed in. */
export async function watch(): Promise<void> {
  cancelNext();
  try {
    const [progress, health] = await Promise.all([
      read<Progress>('/v1/operator/progress'),
      // A server that stops answers 503, with its figures.
      read<Health>('/healthz', 503),
    ]);
    const atMs = systemClock.nowMs();
    seen.value = { progress, health, atMs, rates: ratesSince(seen.value, progress, atMs) };
    trouble.value = '';
    access.value = 'in';
    if (Math.abs(systemClock.nowMs() - historyAtMs) >= historyEveryMs) await readHistory();
  } catch (error) {
    if (error instanceof SignedOut) {
      access.value = 'out';
      seen.value = null;
      return;
    }
    trouble.value = error instanceof Refused
      ? `The server refuses: ${error.message}.`
      : 'The server does not answer. This page asks again by itself.';
  }
  cancelNext = systemClock.after(everyMs, () => void watch());
}

/** The rest of the page goes on where it fails: the next answer comes. */
async function readHistory(): Promise<void> {
  historyAtMs = systemClock.nowMs();
  past.value = await read<OperatorHistory>('/v1/operator/history').catch(() => past.value);
}

/** @returns the fault, in words; empty if this browser is now signed in. */
export async function signIn(token: string): Promise<string> {
  try {
    // In a header, so that a form on another page cannot send it.
    await read('/v1/operator/sign-in', undefined, {
      method: 'POST', headers: { Authorization: `Bearer ${token.trim()}` },
    });
  } catch (error) {
    if (error instanceof SignedOut) return 'That is not this server\'s token.';
    return error instanceof Refused
      ? `The server refuses: ${error.message}.` : 'The server does not answer.';
  }
  await watch();
  return '';
}

export async function signOut(): Promise<void> {
  cancelNext();
  await read('/v1/operator/sign-out', undefined, { method: 'POST' }).catch(() => undefined);
  access.value = 'out';
  seen.value = null;
  past.value = null;
  historyAtMs = -Infinity;
}

/** @throws Refused with the server's message, or the network's error. */
export function askEvidence(study: string, contributor: string): Promise<Evidence> {
  const query = new URLSearchParams({ study, contributor: contributor.trim().toLowerCase() });
  return read<Evidence>(`/v1/operator/evidence?${query.toString()}`);
}

/** Excludes a key for good. @throws Refused with the server's message, or the network's error. */
export async function exclude(study: string, contributor: string): Promise<void> {
  const query = new URLSearchParams({ study, contributor });
  await read(`/v1/operator/quarantine?${query.toString()}`, undefined, { method: 'POST' });
  await watch();
}

/** An operator's action on a study. */
export type StudyAct = 'pause-study' | 'resume-study' | 'end-study' | 'add-note' | 'remove-note';

/**
 * Performs the action, and requests the figures again.
 * @param more further fields of the request.
 * @returns the fault, in words; empty if it is done.
 */
export async function act(
  name: StudyAct, study: string, more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const query = new URLSearchParams({ study, ...more });
  try {
    await read(`/v1/operator/${name}?${query.toString()}`, undefined, { method: 'POST' });
  } catch (error) {
    return error instanceof Refused ? error.message : 'the server does not answer';
  }
  await watch();
  return '';
}

class SignedOut extends Error {}

/** The server answered with a refusal. */
export class Refused extends Error {}

async function read<T>(path: string, alsoGood?: number, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(
    path, { ...init, credentials: 'same-origin', signal: AbortSignal.timeout(timeoutMs) },
  );
  if (answer.status === 401) throw new SignedOut();
  if (answer.status === 204) return undefined as T;
  const body = (await answer.json()) as T & { readonly error?: { readonly text: string } };
  if (!answer.ok && answer.status !== alsoGood) {
    throw new Refused(body.error?.text ?? String(answer.status));
  }
  return body;
}

function ratesSince(before: Seen | null, now: Progress, atMs: number): Seen['rates'] {
  if (before === null || atMs <= before.atMs) return before?.rates ?? null;
  const was = new Map(before.progress.studies.map(({ id, batches }) => [id, batches.accepted]));
  const seconds = (atMs - before.atMs) / 1000;
  return Object.fromEntries(now.studies.map(({ id, batches: { accepted } }) =>
    [id, Math.max(0, accepted - (was.get(id) ?? accepted)) / seconds]));
}
