import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { cellTexts, type NumberWords } from '../base/number-words.js';

/** A number in a table or list, always with its interval. */
export function NumberCell({ value, interval, words }: {
  readonly value: number | null; readonly interval: readonly [number, number] | null;
  readonly words: NumberWords;
}): VNode {
  const [text, plus] = cellTexts(value, interval, words);
  return html`<span>${text}${plus !== '' && html`<span class="quiet">${plus}</span>`}</span>`;
}
