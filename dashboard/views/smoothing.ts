import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { isSmooth } from '../base/smoothing.js';

/** Switches all charts of a study to smoothed numbers, and says what these are. */
export function SmoothSwitch(): VNode {
  const toggle = (): void => { isSmooth.value = !isSmooth.value; };
  return html`<div><label class="small"><input type="checkbox" checked=${isSmooth.value}
    onChange=${toggle} /> Smooth the numbers over epochs</label>
    ${isSmooth.value && html`<p class="quiet small">Smoothed: derived from published answers, free of
    privacy cost. Each epoch draws on the answers before and after it. The band counts the noise that
    was added for privacy, and how much the exact number seems to move. A sudden jump looks
    slower.</p>`}</div>`;
}
