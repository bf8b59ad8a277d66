import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { whole } from '../base/format.js';
import { html } from '../base/html.js';
import type { StudyProgress } from './model.js';
import { past, type Seen } from './session.js';
import { StateBadge, StudyCard } from './study-card.js';

/** With more studies than this each is a row that opens, and there is a search. */
const cardsMost = 4;

interface Facts {
  readonly study: StudyProgress;
  readonly now: Seen;
}

/** Every study of the server: cards, or rows where they are many. */
export function StudyList({ now }: { readonly now: Seen }): VNode {
  const [search, setSearch] = useState('');
  const { progress: { studies } } = now;
  if (studies.length <= cardsMost) {
    return html`<div class="cards">${studies.map((study) =>
      html`<${Card} key=${study.id} study=${study} now=${now} />`)}</div>`;
  }
  const words = searched(search).split(/\s+/);
  const found = studies.filter(({ name }) => words.every((word) => searched(name).includes(word)));
  return html`<section class="stack" aria-label="Studies">
    <label class="study-search"><span class="hidden">Search</span><input type="search"
      placeholder="Search by name" value=${search}
      onInput=${(event: Event) => setSearch((event.currentTarget as HTMLInputElement).value)} />
    </label>
    <p class="quiet small" role="status">${search === '' ? '' : found.length === 0
      ? 'No study has such a name.' : `${whole(found.length)} of ${whole(studies.length)}`}</p>
    <ul class="rows">${found.map((study) =>
      html`<${Row} key=${study.id} study=${study} now=${now} />`)}</ul></section>`;
}

const searched = (text: string): string => text.normalize('NFKC').toLowerCase();

function Card({ study, now: { progress, atMs, rates } }: Facts): VNode {
  return html`<${StudyCard} study=${study} skewMs=${atMs - progress.atMs}
    rate=${rates?.[study.id] ?? null}
    outcomes=${past.value?.studies.find(({ id }) => id === study.id) ?? null} />`;
}

/** The figures that tell at a glance how a study is, and its card when it is opened. */
function Row({ study, now }: Facts): VNode {
  const [isOpen, setOpen] = useState(false);
  const { name, progress, batches, releases, cohort } = study;
  const refused = Object.values(batches.refused).reduce((sum, count) => sum + count, 0);
  return html`<li><details class="row"
    onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary><strong>${name}</strong><${StateBadge} study=${study} />
      <span>${progress === null ? 'no open epoch'
        : `${whole(progress.contributors)} of ${whole(cohort)} contributors`}</span>
      <span>${whole(releases)} releases</span>
      <span class=${refused > 0 ? 'warn-text' : 'quiet'}>${whole(refused)} refused</span></summary>
    ${isOpen && html`<${Card} study=${study} now=${now} />`}</details></li>`;
}
