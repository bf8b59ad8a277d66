import { signal } from '@preact/signals';
import type { Programme, Round, Scene, Setting, State } from './model.js';

export const state = signal<State | null>(null);
export const rounds = signal<readonly Round[]>([]);
export const programme = signal<Programme | null>(null);
/** The present fault, in words; empty if there is none. */
export const trouble = signal('');

const roundsKept = 500;

/**
 * Follows the lab. After a lost connection the browser reconnects automatically and receives
 * everything again.
 */
export async function begin(): Promise<void> {
  const events = new EventSource('/lab/events');
  events.addEventListener('open', () => {
    rounds.value = [];
    trouble.value = '';
  });
  events.addEventListener('error', () => {
    trouble.value = 'No connection to the laboratory: trying again. If it was stopped, start '
      + '"keelson lab" once more.';
  });
  events.addEventListener('state', (event) => {
    const { state: next } = JSON.parse(event.data as string) as { state: State };
    // A new configuration begins without rounds.
    if (next.phase === 'connecting' && next.address === null) rounds.value = [];
    const hasOtherData = state.value !== null && state.value.scene.data !== next.scene.data;
    state.value = next;
    // Other people are attacked in other ways, and asked other questions.
    if (hasOtherData) void choices();
  });
  events.addEventListener('round', (event) => {
    const { round } = JSON.parse(event.data as string) as { round: Round };
    // Only the newest round is shown with its rows.
    const before = rounds.value.filter(({ index }) => index < round.index)
      .map((old) => ({ ...old, picture: null }));
    rounds.value = [...before, round].slice(-roundsKept);
  });
  await choices();
}

async function choices(): Promise<void> {
  programme.value = await (await fetch('/lab/programme')).json() as Programme;
}

export function sendSetting(setting: Setting): Promise<void> {
  return order('/lab/setting', setting);
}

export function sendConfig(scene: Scene): Promise<void> {
  return order('/lab/scene', scene);
}

/** Lets the round in progress be the last one, goes on, or plays one more. */
export function sendPace(pace: 'pause' | 'go-on' | 'step'): Promise<void> {
  return order('/lab/pace', { pace });
}

async function order(path: string, body: unknown): Promise<void> {
  try {
    const answer = await fetch(path, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
    trouble.value = answer.ok ? '' : ((await answer.json()) as { error: string }).error;
  } catch {
    trouble.value = 'The laboratory does not answer.';
  }
}
