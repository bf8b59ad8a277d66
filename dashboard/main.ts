import { effect } from '@preact/signals';
import { render, type VNode } from 'preact';
import { systemClock } from '../client/base/clock.js';
import { html } from './base/html.js';
import { later } from './base/later.js';
import { route, startRouting } from './base/route.js';
import { follow, refresh, studies, trouble } from './base/session.js';
import { Badge, Header } from './base/shell.js';
import { startTheme } from './base/theme.js';
import { chartPart } from './views/column.js';
import { comparePart, heatPart, picturePart, restPart, StudyPage } from './views/study.js';

/** The list of studies: an address of one study does not show it. */
const listPart = later(() => import('./views/list.js').then(({ ListPage }) => ListPage), 'page');

/** The first view is then drawn, unless the machine is very slow. */
const restAfterMs = 1_000;

function Page(): VNode {
  return html`<div><a class="skip" href="#content" onClick=${toContent}>Skip to the content</a>
    <${Header}>
    ${trouble.value !== '' && html`<${Badge} tone="warn">No answer<//>`}
    <a class="bar-link" href="/plan">What if</a>
    <a class="bar-link" href="/operator">Operator</a><//>
    <div id="content" tabindex="-1"><${Content} /></div></div>`;
}

/** The address names the shown study, so it does not change. */
function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')!.focus();
}

function Content(): VNode {
  const list = studies.value;
  if (list === null) return trouble.value === '' ? html`<${Loading} />` : html`<${Unreachable} />`;
  const { value: at } = route;
  if (at.kind === 'unknown') return html`<${NoPage} asked=${at.asked} />`;
  // With only one study there is nothing to choose.
  const only = list.length === 1 ? list[0] : undefined;
  const wanted = at.kind === 'study' ? list.find(({ entry }) => entry.id === at.id) : only;
  if (wanted !== undefined) return html`<${StudyPage}
    key=${wanted.entry.id} followed=${wanted} question=${at.kind === 'study'
    ? at.question : undefined} />`;
  if (at.kind === 'study') return html`<${NoStudy} id=${at.id} />`;
  return list.length === 0 ? html`<${NoStudies} />` : html`<${listPart.View} list=${list} />`;
}

/** The address names a study that this server does not have. */
function NoStudy({ id }: { readonly id: string }): VNode {
  return html`<main class="page"><section class="card empty"><h1>There is no such study here</h1>
    <p>No study of this server has the id that the address asks for:
      ${' '}<code class="asked">${id}</code></p>
    <p class="quiet">A study whose facts were changed is a new one, with a new address.</p>
    <${ListLink} /></section></main>`;
}

/** The address is not that of any page. */
function NoPage({ asked }: { readonly asked: string }): VNode {
  return html`<main class="page"><section class="card empty"><h1>There is no such page</h1>
    <p>The address asks for <code class="asked">${asked}</code></p>
    <p class="quiet">The address of a study ends in <code>#/study/</code> and the study's id, which
      has 64 digits from 0 to 9 and a to f. Perhaps a part of it was lost when it was copied.</p>
    <${ListLink} /></section></main>`;
}

function ListLink(): VNode {
  return html`<a class="button" href="#/">All studies of this server</a>`;
}

function Loading(): VNode {
  return html`<main class="page"><h1 class="hidden">Keelson</h1>
    <p role="status" class="hidden">Asking the aggregator for its studies.</p>
    <div class="split" aria-hidden="true"><div class="ghost tall"></div>
    <div class="ghost"></div></div></main>`;
}

function Unreachable(): VNode {
  return html`<main class="page"><section class="card empty"><h1>The aggregator does not answer</h1>
    <p
      class="quiet">It may be starting, or the network is gone. This page asks again every five seconds.</p>
    <button type="button" onClick=${() => void refresh()}>Ask now</button></section></main>`;
}

function NoStudies(): VNode {
  return html`<main class="page"><section class="card empty"><h1>No study yet</h1>
    <p
      class="quiet">This aggregator runs, but nobody has asked it anything. Start it with a study file:</p>
    <p><code>keelson serve studies/flights-robust.yaml</code></p>
    <p class="quiet small">A study appears here by itself.</p></section></main>`;
}

/** Follows the study that the address names, and asks the server for it if it is not listed. */
function followWanted(): void {
  effect(() => {
    const { value: at } = route;
    const wanted = at.kind === 'study'
      ? studies.value?.find(({ entry }) => entry.id === at.id) : undefined;
    if (wanted !== undefined) follow(wanted);
    const name = at.kind === 'study' && at.question !== undefined ? `: ${at.question}` : '';
    document.title = wanted === undefined ? 'Keelson' : `${wanted.entry.name}${name} – Keelson`;
  });
  // The server may have started a study after the page asked for the list.
  effect(() => {
    const { value: at } = route;
    if (at.kind !== 'study') return;
    if (studies.peek()?.every(({ entry }) => entry.id !== at.id) === true) void refresh();
  });
}

/**
 * Loads the parts that a study's page needs: the charts at once if there is one, and the rest after
 * the first view, so that a page that stays open needs no file later. Parts that are shown earlier
 * load themselves.
 */
function loadParts(): void {
  const loadRest = (): void => {
    // A part that does not load reports it in its own place.
    for (const part of [listPart, chartPart, restPart, picturePart, heatPart, comparePart]) {
      void part.load().catch(() => undefined);
    }
  };
  if (route.value.kind === 'study') {
    const rest = (): void => { systemClock.after(restAfterMs, loadRest); };
    void chartPart.load().then(rest, rest);
    return;
  }
  // While the server is asked for its studies.
  if (route.value.kind === 'list') void listPart.load().catch(() => undefined);
  const stop = effect(() => {
    if (studies.value === null) return;
    systemClock.after(studies.value.length === 1 ? 0 : restAfterMs, () => {
      stop();
      loadRest();
    });
  });
}

startTheme();
startRouting();
followWanted();
loadParts();
const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
void refresh();
