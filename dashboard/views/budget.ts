import type { VNode } from 'preact';
import {
  budgetOf, guaranteeInWords, lastsFor, type BudgetScope, type BudgetState,
} from '../base/budget.js';
import { amount, duration, percent, sentence } from '../base/format.js';
import { html } from '../base/html.js';
import { historyOf, isUnread, type Followed } from '../base/session.js';

/** The spent part of the privacy budget, and the time that the rest lasts. */
export function Budget({ followed }: { readonly followed: Followed }): VNode {
  const { entry, news } = followed;
  const history = historyOf(followed);
  const { budget, privacy, epoch } = entry.document;
  const isOpen = news.value.state === 'open' && news.value.epoch > 0n;
  if (history.last === null) {
    return html`<section class="card"><h2>Privacy budget</h2>
      <${Bar} state=${null} none=${isUnread(followed) ? 'not known yet' : 'nothing spent'} />
      <p class="quiet">${isUnread(followed) ? 'The log says what is spent. It is not read yet.'
        : 'Nothing is spent yet.'} Each release costs ε ${amount(privacy.epsilon)}, and
        the study has ε ${amount(budget.epsilon)}${budget.perMs === undefined
          ? '' : ` per ${duration(budget.perMs)}`}.</p>
      </section>`;
  }
  const state = budgetOf(history.last, isOpen);
  const everyMs = 'everyMs' in epoch ? epoch.everyMs : null;
  return html`<section class="card"><h2>Privacy budget</h2>
    <p class="budget-lead"><strong>ε ${amount(state.epsilonSpent)}</strong>
    <span class="quiet"> of ${amount(state.epsilonCap)} ${spentWords(budget.scope)}</span></p>
    <${Bar} state=${state} none="" />
    <dl class="facts">
      <div><dt><span class="key spent"></span>Spent</dt><dd>${percent(state.spentShare)}</dd></div>
      <div><dt><span class="key reserved"></span>This epoch</dt>
        <dd>${isOpen ? percent(state.reservedShare) : 'none open'}</dd></div>
      <div><dt><span class="key left"></span>Left</dt><dd>${percent(state.leftShare)}</dd></div>
      <div><dt>Lasts for</dt>
        <dd>${lastsFor(state, everyMs, news.value.state, budget.scope)}</dd></div>
      <div><dt>One release alone</dt>
      <dd>ε ${amount(state.epsilonPerRelease)}, δ ${amount(history.last.cost.delta)}</dd></div>
      <div><dt>All of them</dt>
      <dd>ε ${amount(state.epsilonCap)}, δ ${amount(budget.delta)}</dd></div>
    </dl>${windowWords(state)}
    ${history.last.ledger.rule !== 'pure'
      && html`<p class="quiet small">The shares are of rho, in which the costs of releases
      add up. ε grows with the square root of rho, so it looks more spent than it is.</p>`}
    </section>`;
}

/** @param none the text if there is no state. */
function Bar({ state, none }: {
  readonly state: BudgetState | null; readonly none: string;
}): VNode {
  const label = state === null
    ? none
    : `${percent(state.spentShare)} spent, ${percent(state.reservedShare)} set aside for this `
      + `epoch, ${percent(state.leftShare)} left`;
  const upTo = (share: number): { transform: string } =>
    ({ transform: `translateX(${(share - 1) * 100}%)` });
  const spent = state?.spentShare ?? 0;
  // The reserved part also starts at zero; the spent part is drawn over it.
  return html`<div class="budget-bar" role="img" aria-label=${label}>
    <span class="reserved" style=${upTo(spent + (state?.reservedShare ?? 0))}></span>
    <span class="spent" style=${upTo(spent)}></span></div>`;
}

/** A thin bar for lists. */
export function BudgetLine({ followed }: { readonly followed: Followed }): VNode {
  const { news } = followed;
  const { last } = historyOf(followed);
  const state = last === null
    ? null : budgetOf(last, news.value.state === 'open' && news.value.epoch > 0n);
  const none = isUnread(followed) ? 'Not known yet' : 'Nothing spent yet';
  return html`<div class="budget-line"><${Bar} state=${state} none=${none} />
    <span class="quiet">
      ${state === null ? none : `${percent(state.spentShare)} of the privacy budget spent`}</span>
    </div>`;
}

function spentWords(scope: BudgetScope): string {
  if (scope === 'contributor') return 'spent, at most, by any one contributor';
  return scope === 'population' ? 'spent by the studies that share it' : 'spent';
}

function windowWords({ windowMs }: BudgetState): VNode | null {
  return windowMs === null
    ? null : html`<p class="quiet small">The budget renews: what was spent counts for
    ${` ${duration(windowMs)}`}.</p>`;
}

/**
 * The promise, first in words that everybody understands, then exactly.
 * @param place that of the question: each has its own promise about liars.
 */
export function Guarantee({ followed, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode {
  const { document } = followed.entry;
  const { sentence: promise, notAgainst, oddsPerRelease, oddsInAll } = guaranteeInWords(document);
  const exact = historyOf(followed).last?.guarantee;
  const corruption = followed.questions[place]!.parameters['corruption'];
  return html`<section class="card"><h2>What is promised</h2>
    <p>${promise} <span class="quiet">${notAgainst}</span></p>
    ${typeof corruption === 'number' && corruption > 0
      && html`<p>The answer stays useful while up to
      ${` ${percent(corruption)}`} of the contributors send whatever they like, together.</p>`}
    <details><summary>In exact words</summary>
      ${exact && html`<p class="small">${sentence(exact)}</p>`}
      <p
        class="small">One release changes anybody’s odds about one contributor by a factor of
        at most ${amount(oddsPerRelease)}. All releases that the budget allows change them by a
        factor of at most ${amount(oddsInAll)}, together. The exception has a probability of
        ${` ${amount(document.budget.delta)}`} or less. Usually the change is far smaller.</p>
    </details></section>`;
}
