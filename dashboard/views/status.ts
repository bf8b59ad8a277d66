import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { systemClock } from '../../client/base/clock.js';
import { counted, duration, sentence, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { historyOf, type Followed, type Link } from '../base/session.js';
import { Badge, Notice } from '../base/shell.js';

/** The interval between two readings of a clock on the page. */
const tickMs = 250;

/**
 * The page's clock in milliseconds, in whole steps. A view that uses it is drawn again once in each
 * step.
 */
export function useNow(stepMs: number): number {
  return useClock(() => Math.floor(systemClock.nowMs() / stepMs) * stepMs, [stepMs]);
}

/** The result of `read`. A view that uses it is drawn again only when that result changes. */
function useClock(read: () => number, facts: readonly unknown[]): number {
  const [now, setNow] = useState(read);
  useEffect(() => {
    let cancel = (): void => undefined;
    const tick = (): void => {
      setNow(read());
      cancel = systemClock.after(tickMs, tick);
    };
    tick();
    return () => cancel();
  }, [...facts]);
  return now;
}

interface CountdownFacts {
  readonly atMs: number;
  readonly lead: string;
  /** The text once no time is left. */
  readonly over: string;
}

/**
 * Seconds until `atMs`, hidden from screen readers, which would read out every one. Drawn again
 * when they change.
 */
export function Countdown({ atMs, lead, over }: CountdownFacts): VNode {
  const left =
    useClock(() => Math.max(0, Math.ceil((atMs - systemClock.nowMs()) / 1000)), [atMs]);
  return html`<span class="count" aria-hidden="true">${left > 0
    ? `${lead} ${duration(left * 1000)}` : over}</span>`;
}

const words: Readonly<Record<Link['kind'], readonly [tone: string, text: string]>> = {
  'idle': ['quiet', 'Not followed yet'],
  'connecting': ['quiet', 'Connecting'],
  'catching-up': ['quiet', 'Checking the log'],
  'live': ['good', 'Live'],
  'reconnecting': ['warn', 'Reconnecting'],
  'failed': ['bad', 'Does not verify'],
  'error': ['bad', 'Stopped'],
  'ended': ['quiet', 'Ended'],
};

/** The page's connection to the study, in a word. */
export function LinkBadge({ followed: { link, news } }: { readonly followed: Followed }): VNode {
  const { kind } = link.value;
  const [tone, text] = kind === 'live' && news.value.state !== 'open'
    ? ['quiet', 'Ended'] : words[kind];
  return html`<${Badge} tone=${tone}><span class=${`dot ${kind}`}></span>${text}<//>`;
}

/** The open epoch and when it closes. */
export function EpochLine({ followed: { link, news } }: { readonly followed: Followed }): VNode {
  const { state, epoch, closesAtMs } = news.value;
  if (state !== 'open') {
    return html`<span>${state === 'exhausted'
      ? 'The privacy budget is used up' : 'Ended by its operator'}</span>`;
  }
  if (epoch === 0n) return html`<span>No epoch is open</span>`;
  // The page knows the present state only while it is connected.
  if (link.value.kind === 'connecting') return html`<span>Epoch ${whole(epoch)}</span>`;
  if (!['live', 'catching-up'].includes(link.value.kind)) {
    return html`<span>Epoch ${whole(epoch)} was open</span>`;
  }
  return html`<span>Epoch ${whole(epoch)} is open${closesAtMs !== null
    && html`, <${Countdown} atMs=${closesAtMs} lead="closes in" over="closing now" />`}</span>`;
}

/** Why the page is not live, across its whole width; nothing while it is live. */
export function LinkNotice({ followed }: { readonly followed: Followed }): VNode | null {
  const { entry } = followed;
  const history = historyOf(followed);
  const now = followed.link.value;
  switch (now.kind) {
    case 'reconnecting':
      return html`<${Notice} tone="warn" title="The connection was lost.">
        ${history.count > 0
          ? 'The numbers shown are from before that.' : ''} This page connects again by itself, ${' '}
        <${Countdown} atMs=${now.retryAtMs} lead="in" over="now" />
        <span class="quiet"> (${now.reason})</span>.<//>`;
    case 'failed':
      return html`<${Notice} tone="bad" title="This log does not verify."
        alert>${sentence(now.text)}
        ${` ${counted(history.count, 'release')}`} before this point can be believed, and nothing
        after it. Keep the log as it is, and ask the operator.<//>`;
    case 'error':
      return html`<${Notice} tone="bad" title="This study cannot be followed." alert>
        ${sentence(now.text)} Reload this page to try again.<//>`;
    case 'ended':
      return now.state === 'exhausted'
        ? html`<${Notice} tone="accent"
          title="The privacy budget is used up.">No further epoch opens. Another answer
          would tell more about people than the study promised them.<//>`
        : html`<${Notice} tone="accent"
          title="The operator has ended this study.">Its log is complete.<//>`;
    case 'catching-up':
      return entry.releases - history.count > 20
        ? html`<${Notice} tone="quiet" title="Checking the log."><label>${whole(history.count)} of
          ${` ${whole(entry.releases)}`} releases verified <progress max=${entry.releases}
            value=${history.count}>
          </progress>
          </label><//>`
        : null;
    default:
      return null;
  }
}
