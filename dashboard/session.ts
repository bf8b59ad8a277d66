import { signal, type Signal } from '@preact/signals';
import {
  KeelsonError, LogError, subscribe, systemRuntime, type ReleaseSubscription, type StudyNews,
} from '../client/index.js';
import { History, type StudyEntry } from './model.js';

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
  /** By the server's word; `closesAtMs` on the page's own clock. */
  readonly news: Signal<Pick<StudyNews, 'state' | 'epoch'> & { readonly closesAtMs: number | null }>;
}

/** What is known of a study's releases. A view that asks is drawn again when that changes. */
export function historyOf({ history, version }: Followed): History {
  void version.value;
  return history;
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
    entry, history: new History(), version: signal(0), link: signal<Link>({ kind: 'idle' }),
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
    const { epoch: before, closesAtMs } = news.value;
    const at = closesInMs === null ? null : systemRuntime.nowMs() + closesInMs;
    news.value = { state, epoch, closesAtMs: at ?? (epoch === before ? closesAtMs : null) };
  });
  void read(followed, subscription);
}

async function read({ history, version, link }: Followed, subscription: ReleaseSubscription): Promise<void> {
  let waiting = false;
  const redraw = (): void => {
    waiting = false;
    version.value += 1;
  };
  try {
    for await (const { release } of subscription) {
      history.take(release);
      // A log of thousands is drawn as it is read, but drawing must not take the time that verifying needs.
      if (!waiting) systemRuntime.after(link.value.kind === 'catching-up' ? 250 : 30, redraw);
      waiting = true;
    }
    link.value = { kind: 'ended', state: subscription.head?.state === 'exhausted' ? 'exhausted' : 'ended' };
  } catch (error) {
    link.value = failureOf(error);
  }
  // What was verified last is shown together with how it ended.
  redraw();
}

function failureOf(error: unknown): Link {
  const text = error instanceof Error ? error.message : 'the log could not be read';
  if (error instanceof LogError || (error instanceof KeelsonError && error.code === 'server-key-mismatch')) {
    return { kind: 'failed', fault: error.code, text };
  }
  return { kind: 'error', text };
}
