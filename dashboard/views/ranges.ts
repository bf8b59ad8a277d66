import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { ranges, type Range, type View } from '../base/view.js';

const rangeWords: Readonly<Record<Range, string>> = {
  '20': 'Last 20', 'day': 'Day', 'week': 'Week', 'all': 'All',
};

/** Which releases the charts show: a range up to the newest one, or chosen epochs. */
export function Ranges({ view, epochs, onView, first: firstNumber, canSmooth, canCompare }: {
  readonly view: View;
  /** All that the page keeps, in order. */
  readonly epochs: readonly number[];
  readonly onView: (change: Partial<View>) => void;
  /** The number that a comparison begins with, as `comparedName` writes it. */
  readonly first: string;
  readonly canSmooth: boolean;
  /** False where no number is drawn over time. */
  readonly canCompare: boolean;
}): VNode {
  const { chosen, axis, isSmooth } = view;
  const [first, last] = [epochs[0] ?? 0, epochs.at(-1) ?? 0];
  return html`<div class="ranges"><div class="segments" role="group" aria-label="Releases shown">
      ${ranges.map((each) => html`<button key=${each} type="button"
        aria-pressed=${chosen === null && view.range === each}
        onClick=${() => onView({ range: each, chosen: null })}>${rangeWords[each]}</button>`)}
      <button type="button" aria-pressed=${chosen !== null}
        onClick=${() => onView({ chosen: chosen ?? [first, last] })}>Chosen</button></div>
    ${chosen !== null && html`<${ChosenEpochs} chosen=${chosen} onView=${onView} />`}
    <div class="segments" role="group" aria-label="Axis">
      ${(['time', 'epoch'] as const).map((each) => html`<button key=${each} type="button"
        aria-pressed=${axis === each} onClick=${() => onView({ axis: each })}>${
          each === 'time' ? 'Time' : 'Epochs'}</button>`)}</div>
    ${canSmooth && html`<label class="small"><input type="checkbox" checked=${isSmooth}
      onChange=${() => onView({ isSmooth: !isSmooth })} /> Smooth</label>`}
    ${canCompare && html`<button type="button" class="compare-button" aria-pressed=${view.compared.length > 0}
      onClick=${() => onView({ compared: view.compared.length > 0 ? [] : [firstNumber] })}>${
      view.compared.length > 0 ? 'End comparison' : 'Compare'}</button>`}
    <p class="quiet small ranges-hint">Drag over a chart to see a part of it. Click a release to read
      it out. The address keeps both.</p></div>`;
}

/** The first and the last epoch, for hands that do not drag. */
function ChosenEpochs({ chosen: [from, to], onView }: {
  readonly chosen: readonly [number, number];
  readonly onView: (change: Partial<View>) => void;
}): VNode {
  const field = (
    label: string, value: number, choose: (epoch: number) => [number, number],
  ): VNode => html`<label class="range-end"><span>${label}</span><input type="number" min="0" step="1"
      value=${value} onChange=${(event: Event) => {
        const { valueAsNumber: epoch } = event.currentTarget as HTMLInputElement;
        if (Number.isSafeInteger(epoch) && epoch >= 0) onView({ chosen: choose(epoch) });
      }} /></label>`;
  return html`<span class="range-ends">
    ${field('Epoch', from, (epoch) => [epoch, Math.max(epoch, to)])}
    ${field('to', to, (epoch) => [Math.min(epoch, from), epoch])}</span>`;
}
