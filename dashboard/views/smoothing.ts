import type { VNode } from 'preact';
import { html } from '../base/html.js';

/** What smoothed numbers are, for people who look at them. */
export function SmoothNote(): VNode {
  return html`<p class="quiet small">Smoothed: derived from published answers, free of
    privacy cost. Each epoch draws on the answers before and after it. The band counts the noise that
    was added for privacy, and how much the exact number seems to move. A sudden jump looks
    slower.</p>`;
}
