import { batch, effect, signal } from '@preact/signals';
import { askedOf, hashOf, type Asked } from './state.js';
import type { Told } from './worker.js';
import type { Goal, Point, Rating } from './what-if.js';

/** The question that a person asks now. */
export const asked = signal<Asked>(askedOf(location.hash));
/** The newest rating, which may be of an earlier question until the present one has its own. */
export const rating = signal<Rating | null>(null);
/** The question that `rating` answers. */
export const rated = signal<Asked | null>(null);
export const goal = signal<Goal | null>(null);
export const points = signal<readonly Point[]>([]);
/** The reason why nothing was found, in words; empty if something was. */
export const fault = signal('');

let turn = 0;

/** Changes the question, and the address with it, without a step in the history. */
export function change(part: Partial<Asked>): void {
  asked.value = { ...asked.value, ...part };
  history.replaceState(null, '', hashOf(asked.value) || location.pathname);
}

/** Passes each question of a person to the worker, from now on. */
export function begin(): void {
  const worker = new Worker('/plan-worker.js', { type: 'module' });
  worker.onmessage = ({ data }: MessageEvent<Told>) => take(data);
  worker.onerror = () => {
    fault.value = 'The script that plans did not load. Reload this page.';
  };
  addEventListener('hashchange', () => { asked.value = askedOf(location.hash); });
  effect(() => {
    turn += 1;
    worker.postMessage({ turn, asked: asked.value });
  });
}

function take({ turn: of, found }: Told): void {
  if (of !== turn) return;
  batch(() => {
    if (found.kind === 'point') return void (points.value = [...points.value, found]);
    if (found.kind === 'goal') return void (goal.value = found);
    goal.value = null;
    points.value = [];
    fault.value = found.kind === 'fault' ? found.text : '';
    rating.value = found.kind === 'fault' ? null : found;
    rated.value = asked.value;
  });
}
