import { render, type VNode } from 'preact';
import { html } from '../base/html.js';
import { Badge, Header, Notice } from '../base/shell.js';
import { startTheme } from '../base/theme.js';
import { EvidenceCard } from './evidence.js';
import { Refusals, Server } from './figures.js';
import { refusalsOf, type Progress } from './model.js';
import { OverTime } from './over-time.js';
import { access, past, seen, signOut, trouble, watch, type Seen } from './session.js';
import { SignIn } from './sign-in.js';
import { StudyList } from './study-list.js';

function Page(): VNode {
  const isIn = access.value === 'in';
  return html`<div><a class="skip" href="#content" onClick=${toContent}>Skip to the content</a>
    <${Header} title="Operator">
    ${isIn && html`<button type="button" onClick=${() => void signOut()}>Sign out</button>`}<//>
    <div id="content" tabindex="-1"><${Content} /></div></div>`;
}

function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')!.focus();
}

function Content(): VNode {
  if (access.value === 'out') return html`<${SignIn} />`;
  const now = seen.value;
  if (now !== null) return html`<${Figures} now=${now} />`;
  return trouble.value === ''
    ? html`<main class="page"><h1 class="hidden">Operator</h1>
      <p role="status" class="hidden">Asking the server for its figures.</p>
        <div class="ghost" aria-hidden="true"></div></main>`
    : html`<main class="page"><section class="card empty"><h1>The server does not answer</h1>
      <p class="quiet">It may be starting, or
        the network is gone. This page asks again every two seconds.</p></section></main>`;
}

function Figures({ now }: { readonly now: Seen }): VNode {
  const { progress, health } = now;
  const { studies } = progress;
  const open = studies.filter(({ state }) => state === 'open').length;
  return html`<main class="page">
    <div class="title"><div><h1>This server</h1><p class="quiet">${studies.length === 1
      ? 'One study' : `${studies.length} studies`},
      ${` ${open}`} open. Exact counts: they are not noised, so they are not for publication.</p></div>
      ${trouble.value === '' ? html`<${Badge} tone="good"><span class="dot live"></span>Live<//>`
        : html`<${Badge} tone="warn"><span class="dot reconnecting"></span>No answer<//>`}</div>
    ${trouble.value !== ''
      && html`<${Notice} tone="warn" title="These figures are old." alert>${trouble.value}<//>`}
    <${Server} health=${health} />
    ${past.value !== null && html`<${OverTime} samples=${past.value.samples} />`}
    ${progress.refusedStudies.map(({ study, reason }) => html`<${Notice} key=${study} tone="bad"
      title=${`${study} does not run.`}>${reason}<//>`)}
    ${studies.length === 0 && html`<section class="card empty"><h2>No study yet</h2>
    <p class="quiet">Start the server with a study file:
      <code>keelson serve studies/flights-robust.yaml</code></p></section>`}
    <${StudyList} now=${now} />
    ${refusalsOf(progress.refused).length > 0
      && html`<section class="card"><h2>Refused before a study was known</h2>
      <${Refusals} refused=${progress.refused} /></section>`}
    ${studies.length > 0 && html`<${EvidenceCard} studies=${studies} />`}
    <${FirstContact} progress=${progress} /></main>`;
}

/** The key that people compare before they trust this server, as `keelson serve` prints it. */
function FirstContact({ progress: { serverKey, fingerprint } }: {
  readonly progress: Progress;
}): VNode {
  return html`<section class="card"><h2>For readers and contributors</h2>
    <p class="quiet">Hand these out by another way than this server, so that people can compare
      them with what their page or client shows.</p>
    <dl class="facts stacked first-contact"><div><dt>Dashboard</dt>
      <dd><a href="/">${location.origin}/</a></dd></div>
      <div><dt>Server key</dt><dd class="code">${serverKey}</dd></div>
      <div><dt>Fingerprint</dt><dd class="code">${fingerprint}</dd></div></dl></section>`;
}

startTheme();
const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
void watch();
