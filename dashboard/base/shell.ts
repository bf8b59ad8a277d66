import type { ComponentChildren, VNode } from 'preact';
import { html } from './html.js';
import { theme, themes } from './theme.js';

const themeNames = { system: 'System', light: 'Light', dark: 'Dark' } as const;

/** The bar at the top of every page: the title, the `children`, and the choice of a theme. */
export function Header({ title, children }: {
  readonly title?: string; readonly children?: ComponentChildren;
}): VNode {
  return html`<header class="bar"><div class="bar-inside">
    <a class="brand" href="/#/"><img src="/favicon.svg" alt="" width="26" height="26" />Keelson${
      title === undefined ? null : html`<span class="brand-part">${title}</span>`}</a>
    <div class="bar-end">${children}<${ThemeChoice} /></div></div></header>`;
}

/** Three buttons. One of them is pressed. */
export function ThemeChoice(): VNode {
  return html`<div class="segments" role="group" aria-label="Theme">${themes.map((each) => html`
    <button key=${each} type="button" aria-pressed=${theme.value
      === each} onClick=${() => { theme.value = each; }}>
      <${ThemeIcon} of=${each} /><span class="hidden">${themeNames[each]}</span></button>`)}</div>`;
}

function ThemeIcon({ of }: { readonly of: (typeof themes)[number] }): VNode {
  const paths = {
    system: html`<g><rect x="2.5" y="3.5" width="15" height="10" rx="1.5" />
      <path d="M7 17h6M10 13.5V17" /></g>`,
    light: html`<g><circle cx="10" cy="10" r="3.4" />
      <path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4
      M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4" /></g>`,
    dark: html`<path d="M16.5 11.6A7 7 0 0 1 8.4 3.5a7 7 0 1 0 8.1 8.1z" />`,
  };
  return html`<svg class="icon" viewBox="0 0 20 20" width="18" height="18"
    aria-hidden="true">${paths[of]}</svg>`;
}

/**
 * A short word in a coloured pill. `tone` is a class of shell.css: good, warn, bad, quiet or
 * accent.
 */
export function Badge({ tone, children }: {
  readonly tone: string; readonly children?: ComponentChildren;
}): VNode {
  return html`<span class=${`badge ${tone}`}>${children}</span>`;
}

/** A message across the page: an event and its consequences. */
export function Notice(
  { tone, title, children, alert = false }:
  {
    readonly tone: string; readonly title: string; readonly alert?: boolean;
    readonly children?: ComponentChildren;
  },
): VNode {
  return html`<div class=${`notice ${tone}`} role=${alert
    ? 'alert' : undefined}><strong>${title}</strong>
    <div class="notice-text">${children}</div></div>`;
}
