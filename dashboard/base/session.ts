import { batch, signal, type Signal } from '@preact/signals';
import {
  KeelsonError, LogError, subscribe, systemRuntime, type ReleaseSubscription, type StudyNews,
} from '../../client/index.js';
import { History, type StudyEntry } from './model.js';
import { numbersOf } from './numbers.js';

/** How this page hears of a study, which is what it says in its status line. */
export type Link =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** The log so far is being checked, release by release. */
  | { readonly kind: 'catching-up' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly reason: string; readonly retryAtMs: number }
  /** The log does not verify. What was shown before it did. */
  | { readonly kind: 'failed'; readonly fault: string; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'ended'; readonly state: 'exhausted' | 'ended' };

/** A study and what is known of it. Views take `history` through `historyOf`. */
export interface Followed {
  readonly entry: StudyEntry;
  readonly history: History;
  readonly version: Signal<number>;
  readonly link: Signal<Link>;
  /** What has changed and is not drawn yet: one drawing shows all of it. Null when nothing waits. */
  waiting: (() => void)[] | null;
  /** By the server's word; `closesAtMs` on the page's own clock. */
  readonly news: Signal<Pick<StudyNews, 'state' | 'epoch'> & { readonly closesAtMs: number | null }>;
}

/** What is known of a study's releases. A view that asks is drawn again when that changes. */
export function historyOf({ history, version }: Followed): History {
  void version.value;
  return history;
}

/** There are releases that this page has not read: what it does not know is not nothing. */
export function isUnread(followed: Followed): boolean {
  const { kind } = followed.link.value;
  return historyOf(followed).count === 0 && followed.entry.releases > 0 && kind !== 'live' && kind !== 'ended';
}

/** Studies followed at once without being looked at: every one takes a socket. */
const followedMax = 12;
/** Half of a picture at 60 Hz. */
const sliceMs = 8;
const listAgainMs = 5_000;

/** Null until the server has answered for the first time. */
export const studies = signal<readonly Followed[] | null>(null);
/** What keeps the list from being fresh, for people; empty when nothing does. */
export const trouble = signal('');
/** Hexadecimal. */
export const serverKey = signal('');

const subscriptions = new Map<string, ReleaseSubscription>();
let asking = false;

/** Asks for the list of studies, and again while there is none. */
export async function refresh(): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch('/v1/studies', { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const listed = (await answer.json()) as { readonly studies: StudyEntry[]; readonly serverKey: string };
    serverKey.value = listed.serverKey;
    trouble.value = '';
    adopt(listed.studies);
  } catch {
    trouble.value = 'The aggregator does not answer.';
  } finally {
    asking = false;
  }
  if (trouble.value !== '' || studies.value?.length === 0) systemRuntime.after(listAgainMs, () => void refresh());
}

/** Studies that are known stay as they are; new ones are followed while there are few. */
function adopt(entries: readonly StudyEntry[]): void {
  const known = new Map(studies.value?.map((each) => [each.entry.id, each]));
  studies.value = entries.map((entry) => known.get(entry.id) ?? followable(entry));
  for (const each of studies.value) if (subscriptions.size < followedMax) follow(each);
}

function followable(entry: StudyEntry): Followed {
  return {
    entry, version: signal(0), link: signal<Link>({ kind: 'idle' }), waiting: null,
    history: new History(undefined, (outcome) => numbersOf(entry, outcome).map(({ place }) => place)),
    news: signal({ state: entry.state, epoch: BigInt(entry.epoch), closesAtMs: null }),
  };
}

/** Follows a study from its first release on. Every release is verified by the client before it is shown. */
export function follow(followed: Followed): void {
  const { entry, link, news } = followed;
  if (subscriptions.has(entry.id)) return;
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}`;
  const key = Uint8Array.from(serverKey.value.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const subscription = subscribe({ url, study: entry.id, serverKey: key, sliceMs });
  subscriptions.set(entry.id, subscription);
  link.value = { kind: 'connecting' };
  subscription.onConnected(() => {
    // A server that was restarted may have other studies.
    if (link.value.kind === 'reconnecting') void refresh();
    link.value = { kind: 'catching-up' };
  });
  subscription.onHead(() => { link.value = { kind: 'live' }; });
  subscription.onReconnecting((reason, retryInMs) => {
    // Seconds may pass before the next word of the server: the epoch that was open may be over by then.
    link.value = { kind: 'reconnecting', reason, retryAtMs: systemRuntime.nowMs() + retryInMs };
  });
  subscription.onNews(({ state, epoch, closesInMs }) => {
    const at = closesInMs === null ? null : systemRuntime.nowMs() + closesInMs;
    // A release and the epoch that opens after it come together.
    draw(followed, () => {
      const { epoch: before, closesAtMs } = news.value;
      news.value = { state, epoch, closesAtMs: at ?? (epoch === before ? closesAtMs : null) };
    });
  });
  void read(followed, subscription);
}

/** Shows a change within 30 ms, together with what else changes until then. */
function draw(followed: Followed, change: () => void): void {
  if (followed.waiting !== null) {
    followed.waiting.push(change);
    return;
  }
  followed.waiting = [change];
  // A log of thousands is drawn as it is read, but drawing must not take the time that verifying needs.
  systemRuntime.after(followed.link.value.kind === 'catching-up' ? 250 : 30, () => drawNow(followed));
}

function drawNow(followed: Followed): void {
  const changes = followed.waiting ?? [];
  followed.waiting = null;
  batch(() => changes.forEach((change) => change()));
}

async function read(followed: Followed, subscription: ReleaseSubscription): Promise<void> {
  const { history, version, link } = followed;
  const redraw = (): void => { version.value = history.count; };
  try {
    for await (const { release } of subscription) {
      history.take(release);
      // Once per drawing, however many releases it shows.
      if (followed.waiting?.includes(redraw) !== true) draw(followed, redraw);
    }
    link.value = { kind: 'ended', state: subscription.head?.state === 'exhausted' ? 'exhausted' : 'ended' };
  } catch (error) {
    link.value = failureOf(error);
  }
  // What was verified last is shown together with how it ended.
  drawNow(followed);
}

function failureOf(error: unknown): Link {
  const text = error instanceof Error ? error.message : 'the log could not be read';
  if (error instanceof LogError || (error instanceof KeelsonError && error.code === 'server-key-mismatch')) {
    return { kind: 'failed', fault: error.code, text };
  }
  return { kind: 'error', text };
}
