import { systemClock } from '../../client/base/clock.js';
import type { Asked } from './state.js';
import { whatIf, type Found } from './what-if.js';

/** Something that was found, and for which of the page's questions. */
export interface Told {
  readonly turn: number;
  readonly found: Found;
}

/** The worker's side of its channel to the page. */
interface Page {
  onmessage: ((event: { readonly data: { readonly turn: number; readonly asked: Asked } }) => void)
    | null;
  postMessage(told: Told): void;
}

const page = globalThis as unknown as Page;
let newest = 0;

/** Plans take up to a second for all cohorts of a chart. A newer question ends an older one. */
page.onmessage = ({ data: { turn, asked } }) => {
  newest = turn;
  const finding = whatIf(asked);
  const step = (): void => {
    if (newest !== turn) return;
    try {
      const next = finding.next();
      if (next.done === true) return;
      page.postMessage({ turn, found: next.value });
      // A message that waits is taken first.
      systemClock.after(0, step);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      page.postMessage({ turn, found: { kind: 'fault', text } });
    }
  };
  step();
};
