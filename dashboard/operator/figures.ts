import type { VNode } from 'preact';
import { percent, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { Notice } from '../base/shell.js';
import { bytes, latency, meaningOf, refusalsOf, type Health } from './model.js';

/** A figure with its name. `note` is shown smaller beneath it. */
export function Figure(
  { name, value, note }: { readonly name: string; readonly value: string; readonly note?: string },
): VNode {
  return html`<div class="figure"><dt>${name}</dt><dd>${value}</dd>${note !== undefined
    && html`<dd class="note">${note}</dd>`}</div>`;
}

/** A bar with its numbers in words, for progress. */
export function Meter(
  { name, value, of, tone = 'accent' }:
  { readonly name: string; readonly value: number; readonly of: number; readonly tone?: string },
): VNode {
  const share = of > 0 ? value / of : 0;
  return html`<div class="meter"><span class="meter-name">${name}</span>
    <span class="meter-value">${whole(value)} <span
      class="quiet">of ${whole(of)}, ${percent(share)}</span></span>
    <${Track} name=${name} share=${share} tone=${tone} /></div>`;
}

/**
 * A bar that is full at `share` 1. Without a name it only repeats the text beside it, and screen
 * readers ignore it.
 */
export function Track({ share, tone, name }: {
  readonly share: number; readonly tone: string; readonly name?: string;
}): VNode {
  const full = `translateX(${100 * Math.min(1, Math.max(0, share)) - 100}%)`;
  return name === undefined
    ? html`<span class=${`track ${tone}`} aria-hidden="true">
      <span style=${{ transform: full }}></span></span>`
    : html`<span class=${`track ${tone}`} role="meter" aria-label=${name} aria-valuemin="0"
      aria-valuemax="1"
        aria-valuenow=${Math.min(1, Math.max(0, share))} aria-valuetext=${percent(share)}>
          <span style=${{ transform: full }}></span></span>`;
}

/** The server as a whole: connections, queues and the speed of the disk. */
export function Server({ health }: { readonly health: Health }): VNode {
  const { store } = health;
  return html`<section aria-label="Server" class="stack">
    ${health.status === 'stopping' && html`<${Notice} tone="warn"
      title="The server is stopping.">It answers what it has received. It takes
      nothing new.<//>`}
    ${health.overloaded && html`<${Notice} tone="bad" title="The journal is behind."
      alert>The disk is slower than the batches that arrive.
      The server refuses new batches for now, and clients send them again. The time of a commit
      below shows how slow the disk is.<//>`}
    <dl class="figures card">
      <${Figure} name="Connections" value=${whole(health.sockets)}
        note=${`${whole(health.channels)} contributors' channels`} />
      <${Figure} name="Subscribers" value=${whole(health.subscriptions)} note="follow releases" />
      <${Figure} name="Waiting for the disk" value=${whole(health.queuedBatches)}
        note=${`batches, ${bytes(health.queuedBytes)}`} />
      ${store !== null && html`<${Figure} name="Commit" value=${latency(store.commitSecondsMedian)}
        note=${`99 % within ${latency(store.commitSeconds99)}`} />`}
      ${store !== null && html`<${Figure} name="Journalled" value=${whole(store.batches)}
        note=${`batches in ${whole(store.commits)} commits`} />`}
      ${store !== null
        && html`<${Figure} name="On disk" value=${bytes(store.fileBytes + store.walBytes)}
        note=${`${bytes(store.walBytes)} of it log`} />`}
    </dl></section>`;
}

/** Reasons of refused batches since the server started, most frequent first. */
export function Refusals({ refused }: {
  readonly refused: Readonly<Record<string, number>>;
}): VNode {
  const found = refusalsOf(refused);
  if (found.length === 0) {
    return html`<p class="quiet small">Nothing refused since the server started.</p>`;
  }
  const most = found[0]![1];
  return html`<table class="refusals"><thead class="hidden"><tr><th>Reason</th><th>Share</th>
    <th>Count</th></tr></thead>
    <tbody>${found.map(([code, count]) => html`<tr key=${code}>
      <th scope="row"><span class="code">${code}</span>
      <span class="meaning">${meaningOf(code)}</span></th>
      <td class="share"><${Track} share=${count / most} tone="warn" /></td>
      <td class="count">${whole(count)}</td></tr>`)}</tbody></table>`;
}
