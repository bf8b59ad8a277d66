import type { Link } from './session.js';

/** The facts about a study that decide its place in the list. */
export interface StudyState {
  readonly link: Link['kind'];
  readonly state: 'open' | 'exhausted' | 'ended';
  /** The newest release has no answer to one of the questions at least. */
  readonly isRefused: boolean;
  /** Share of the budget that is spent, 0 to 1; null if nothing is known. */
  readonly spentShare: number | null;
  /** The epoch should have closed so long ago; 0 or less if it is not over. */
  readonly overdueMs: number;
}

/** The most urgent reason why a study needs a look. */
export interface Attention {
  /** 0: none. More is more urgent. */
  readonly level: number;
  readonly tone: 'good' | 'quiet' | 'warn' | 'bad';
  readonly text: string;
}

/** The budget is then nearly spent. */
const spentMuch = 0.8;
/** A release takes some time. An epoch that has been over for longer is stale. */
const staleMs = 60_000;

/** The urgency with which a study needs a look, and the reason, in a few words. */
export function attentionOf(
  { link, state, isRefused, spentShare, overdueMs }: StudyState,
): Attention {
  const at = (level: number, tone: Attention['tone'], text: string): Attention =>
    ({ level, tone, text });
  if (link === 'failed') return at(6, 'bad', 'Does not verify');
  if (link === 'error') return at(5, 'bad', 'Stopped');
  if (state === 'open' && isRefused) return at(4, 'warn', 'No answer');
  if (link === 'reconnecting') return at(3, 'warn', 'Reconnecting');
  if (state === 'open' && overdueMs > staleMs) return at(3, 'warn', 'Late');
  if (state === 'open' && spentShare !== null && spentShare >= spentMuch) {
    return at(2, 'warn', 'Budget nearly spent');
  }
  if (state === 'exhausted') return at(1, 'quiet', 'Budget used up');
  if (state === 'ended') return at(0, 'quiet', 'Ended');
  return link === 'live' ? at(0, 'good', 'Live')
    : at(0, 'quiet', link === 'idle' ? 'Not followed yet' : 'Connecting');
}
