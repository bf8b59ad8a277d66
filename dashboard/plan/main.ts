import { render, type VNode } from 'preact';
import { html } from '../base/html.js';
import { Header, Notice } from '../base/shell.js';
import { startTheme } from '../base/theme.js';
import { Controls } from './controls.js';
import { Results } from './results.js';
import { begin, fault } from './session.js';

function Page(): VNode {
  return html`<div><a class="skip" href="#content" onClick=${toContent}>Skip to the content</a>
    <${Header} title="What if" />
    <div id="content" tabindex="-1"><main class="page">
      <div class="title"><div><h1>Plan a study</h1><p class="quiet">Try numbers before anybody sends
        a row. All of it is computed in this browser, from public numbers alone; the address keeps
        them.</p></div></div>
      ${fault.value !== ''
        && html`<${Notice} tone="bad" title="These numbers cannot be planned." alert>${fault.value}<//>`}
      <div class="bench"><${Controls} /><${Results} /></div></main></div></div>`;
}

/** The address holds the question, so it does not change. */
function toContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')!.focus();
}

startTheme();
begin();
const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
