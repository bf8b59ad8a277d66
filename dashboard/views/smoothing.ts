import type { VNode } from 'preact';
import { html } from '../base/html.js';

/** An explanation of smoothed numbers for the people who look at them. */
export function SmoothNote(): VNode {
  return html`<p class="quiet small"><span class="stroke" aria-hidden="true"></span>The thick line is
    smoothed: it is computed from the published answers alone, so it costs nobody any privacy. Each of
    its points draws on the answers before and after it. A sudden jump looks slower in it, and a regular
    swing that is smaller than the noise looks flat.</p>`;
}
