import { effect } from '@preact/signals';
import { render, type VNode } from 'preact';
import { html } from './html.js';
import { route, startRouting } from './route.js';
import { follow, refresh, studies, trouble } from './session.js';
import { Badge, Header } from './shell.js';
import { startTheme } from './theme.js';
import { ListPage } from './views/list.js';
import { StudyPage } from './views/study.js';

function Page(): VNode {
  return html`<div><a class="skip" href="#content" onClick=${toContent}>Skip to the content</a><${Header}>
    ${trouble.value !== '' && html`<${Badge} tone="warn">No answer<//>`}<//>
    <div id="content" tabindex="-1"><${Content} /></div></div>`;
}

/** The address says which study is shown, so it stays. */
function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')!.focus();
}

function Content(): VNode {
  const list = studies.value;
  if (list === null) return trouble.value === '' ? html`<${Loading} />` : html`<${Unreachable} />`;
  if (list.length === 0) return html`<${NoStudies} />`;
  const { value: at } = route;
  // With one study there is nothing to choose.
  const only = list.length === 1 ? list[0] : undefined;
  const wanted = at.kind === 'study' ? list.find(({ entry }) => entry.id === at.id) : only;
  if (wanted !== undefined) return html`<${StudyPage} key=${wanted.entry.id} followed=${wanted} />`;
  if (at.kind === 'list') return html`<${ListPage} list=${list} />`;
  return html`<main class="page"><section class="card empty"><h1>There is no such study here</h1>
    <p class="quiet">A study whose facts were changed is a new one, with a new address.</p>
    <a class="button" href="#/">All studies of this server</a></section></main>`;
}

function Loading(): VNode {
  return html`<main class="page"><h1 class="hidden">Keelson</h1>
    <p role="status" class="hidden">Asking the aggregator for its studies.</p>
    <div class="split" aria-hidden="true"><div class="ghost tall"></div><div class="ghost"></div></div></main>`;
}

function Unreachable(): VNode {
  return html`<main class="page"><section class="card empty"><h1>The aggregator does not answer</h1>
    <p class="quiet">It may be starting, or the network is gone. This page asks again every five seconds.</p>
    <button type="button" onClick=${() => void refresh()}>Ask now</button></section></main>`;
}

function NoStudies(): VNode {
  return html`<main class="page"><section class="card empty"><h1>No study yet</h1>
    <p class="quiet">This aggregator runs, but nobody has asked it anything. Start it with a study file:</p>
    <p><code>keelson serve studies/flights-populous.yaml</code></p>
    <p class="quiet small">A study appears here by itself.</p></section></main>`;
}

/** The study that is looked at is followed, however many there are. */
function followWanted(): void {
  effect(() => {
    const { value: at } = route;
    const wanted = at.kind === 'study' ? studies.value?.find(({ entry }) => entry.id === at.id) : undefined;
    if (wanted !== undefined) follow(wanted);
    document.title = wanted === undefined ? 'Keelson' : `${wanted.entry.name} – Keelson`;
  });
}

startTheme();
startRouting();
followWanted();
const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
void refresh();
