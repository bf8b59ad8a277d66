import { batch, signal, type Signal } from '@preact/signals';
import {
  KeelsonError, LogError, subscribe, systemRuntime, type ReleaseSubscription, type StudyNews,
} from '../../client/index.js';
import { History, questionsAsked, type Asked, type StudyEntry } from './model.js';
import { isDistribution } from './answer.js';
import { numbersOf } from './numbers.js';

/** The connection of this page to a study. The status line shows it. */
export type Link =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** The log so far is being checked, release by release. */
  | { readonly kind: 'catching-up' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly reason: string; readonly retryAtMs: number }
  /** The log does not verify. Everything shown before did verify. */
  | { readonly kind: 'failed'; readonly fault: string; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'ended'; readonly state: 'exhausted' | 'ended' };

/** A study and the page's knowledge about it. Views read `histories` through `historyOf`. */
export interface Followed {
  readonly entry: StudyEntry;
  /** In the study's order, one at least. */
  readonly questions: readonly Asked[];
  /**
   * One history for each question. The last release and the count of releases are the same in all.
   */
  readonly histories: readonly History[];
  readonly version: Signal<number>;
  readonly link: Signal<Link>;
  /** Changes that are not drawn yet: the next drawing shows all of them. Null if there are none. */
  waiting: (() => void)[] | null;
  /** The state of the study as the server reports it. `closesAtMs` is on the page's own clock. */
  readonly news: Signal<Pick<StudyNews, 'state' | 'epoch'>
    & { readonly closesAtMs: number | null }>;
}

/**
 * A study's releases and their answers to one question, by the place of the question. A
 * view that reads it is drawn again when it changes.
 */
export function historyOf({ histories, version }: Followed, question = 0): History {
  void version.value;
  return histories[question]!;
}

/**
 * True if there are releases that this page has not read. It must then not claim that there are
 * none.
 */
export function isUnread(followed: Followed): boolean {
  const { kind } = followed.link.value;
  return historyOf(followed).count === 0 && followed.entry.releases > 0 && kind !== 'live'
    && kind !== 'ended';
}

/** Most studies that are followed while nobody looks at them: each needs a socket. */
const followedMax = 64;
/** This many are followed at once, and one more in each pause: a server limits new connections. */
const followedAtOnce = 12;
const followPauseMs = 60;
/** Half of a frame at 60 Hz. */
const sliceMs = 8;
const listAgainMs = 5_000;

/** Null until the server's first answer. */
export const studies = signal<readonly Followed[] | null>(null);
/** The reason why the list may be out of date, in words; empty if it is up to date. */
export const trouble = signal('');
/** Hexadecimal. */
export const serverKey = signal('');

const subscriptions = new Map<string, ReleaseSubscription>();
let asking = false;

/** Asks for the list of studies, and retries until there is one. */
export async function refresh(): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch('/v1/studies', { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const listed =
      (await answer.json()) as { readonly studies: StudyEntry[]; readonly serverKey: string };
    serverKey.value = listed.serverKey;
    trouble.value = '';
    adopt(listed.studies);
  } catch {
    trouble.value = 'The aggregator does not answer.';
  } finally {
    asking = false;
  }
  if (trouble.value !== '' || studies.value?.length === 0) {
    systemRuntime.after(listAgainMs, () => void refresh());
  }
}

/** Keeps known studies. Follows new ones as long as they are few. */
function adopt(entries: readonly StudyEntry[]): void {
  const known = new Map(studies.value?.map((each) => [each.entry.id, each]));
  studies.value = entries.map((entry) => known.get(entry.id) ?? followable(entry));
  for (const each of studies.value) if (subscriptions.size < followedAtOnce) follow(each);
  followMore();
}

let isFollowing = false;

/** Follows the other studies one by one, up to the most. */
function followMore(): void {
  const next = studies.value?.find(({ link }) => link.value.kind === 'idle');
  if (isFollowing || next === undefined || subscriptions.size >= followedMax) return;
  isFollowing = true;
  systemRuntime.after(followPauseMs, () => {
    isFollowing = false;
    follow(next);
    followMore();
  });
}

function followable(entry: StudyEntry): Followed {
  const questions = questionsAsked(entry);
  return {
    entry, questions, version: signal(0), link: signal<Link>({ kind: 'idle' }), waiting: null,
    histories: questions.map((asked, i) =>
      new History(undefined, (outcome) => numbersOf(asked, outcome).map(({ place }) => place), i,
        isDistribution(asked))),
    news: signal({ state: entry.state, epoch: BigInt(entry.epoch), closesAtMs: null }),
  };
}

/**
 * Follows a study from its first release on. The client verifies every release before it is shown.
 */
export function follow(followed: Followed): void {
  const { entry, link, news } = followed;
  if (subscriptions.has(entry.id)) return;
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}`;
  const key = Uint8Array.from(serverKey.value.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const subscription = subscribe({ url, study: entry.id, serverKey: key, sliceMs });
  subscriptions.set(entry.id, subscription);
  link.value = { kind: 'connecting' };
  subscription.onConnected(() => {
    // A restarted server may have other studies.
    if (link.value.kind === 'reconnecting') void refresh();
    link.value = { kind: 'catching-up' };
  });
  subscription.onHead(() => { link.value = { kind: 'live' }; });
  subscription.onReconnecting((reason, retryInMs) => {
    // Until the server's next message the open epoch may already be over.
    link.value = { kind: 'reconnecting', reason, retryAtMs: systemRuntime.nowMs() + retryInMs };
  });
  subscription.onNews(({ state, epoch, closesInMs }) => {
    const at = closesInMs === null ? null : systemRuntime.nowMs() + closesInMs;
    // A release and the next epoch arrive together.
    draw(followed, () => {
      const { epoch: before, closesAtMs } = news.value;
      news.value = { state, epoch, closesAtMs: at ?? (epoch === before ? closesAtMs : null) };
    });
  });
  void read(followed, subscription);
}

/** Draws a change within 30 ms, together with all other changes until then. */
function draw(followed: Followed, change: () => void): void {
  if (followed.waiting !== null) {
    followed.waiting.push(change);
    return;
  }
  followed.waiting = [change];
  // A log of thousands is drawn while it is read. Drawing must leave time for verifying.
  systemRuntime.after(
    followed.link.value.kind === 'catching-up' ? 250 : 30, () => drawNow(followed),
  );
}

function drawNow(followed: Followed): void {
  const changes = followed.waiting ?? [];
  followed.waiting = null;
  batch(() => changes.forEach((change) => change()));
}

async function read(followed: Followed, subscription: ReleaseSubscription): Promise<void> {
  const { histories, version, link } = followed;
  const redraw = (): void => { version.value = histories[0]!.count; };
  try {
    for await (const { release } of subscription) {
      for (const history of histories) history.take(release);
      // At most once per drawing, for any number of releases.
      if (followed.waiting?.includes(redraw) !== true) draw(followed, redraw);
    }
    link.value =
      { kind: 'ended', state: subscription.head?.state === 'exhausted' ? 'exhausted' : 'ended' };
  } catch (error) {
    link.value = failureOf(error);
  }
  // Shows the last verified release together with the reason why the connection ended.
  drawNow(followed);
}

function failureOf(error: unknown): Link {
  const text = error instanceof Error ? error.message : 'the log could not be read';
  if (error instanceof LogError
      || (error instanceof KeelsonError && error.code === 'server-key-mismatch')) {
    return { kind: 'failed', fault: error.code, text };
  }
  return { kind: 'error', text };
}
