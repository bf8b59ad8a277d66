import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, clockTime, whole } from '../base/format.js';
import { html } from '../base/html.js';
import type { Evidence, StudyProgress } from './model.js';
import { exclude, Refused } from './session.js';

/**
 * The choices of the operator about a key whose rows were measured. There are none unless the
 * study's facts state a distance.
 */
export function Quarantine(
  { evidence, study }: { readonly evidence: Evidence; readonly study: StudyProgress | undefined },
): VNode | null {
  const [state, setState] =
    useState<{ readonly asking: boolean; readonly fault: string }>({ asking: false, fault: '' });
  if (study === undefined || study.beyond === null) {
    return html`<p
      class="quiet small">This study excludes nobody: its file states no distance for that.</p>`;
  }
  const entry = study.quarantined.find(({ contributor }) => contributor === evidence.contributor);
  const from = entry?.fromEpoch ?? evidence.excludedFrom;
  if (from !== null) return html`<p class="small">
    <strong>Excluded from epoch ${whole(BigInt(from))} on.</strong></p>`;
  const distance = Math.max(-Infinity, ...evidence.epochs.flatMap((epoch) =>
    (epoch.distance === null ? [] : [epoch.distance])));
  if (!(distance > study.beyond)) {
    return html`<p class="quiet small">This study excludes beyond ${amount(study.beyond)} only${
      study.automatic ? ', by itself at each release' : ''}.</p>`;
  }
  const act = (): void => {
    setState({ asking: true, fault: '' });
    exclude(study.id, evidence.contributor).then(
      () => setState({ asking: false, fault: '' }),
      (error: unknown) => setState({
        asking: false,
        fault: error instanceof Refused ? error.message : 'the server does not answer',
      }),
    );
  };
  return html`<div class="exclude"><button type="button" disabled=${state.asking}
    onClick=${act}>Exclude from the next epoch on</button>
    <p class="quiet small">An exclusion is final, and the contributor is told. Decide by these
      distances only. No data of other people may decide who is left out: their privacy depends on
      this.</p>
    ${state.fault !== '' && html`<p class="fault small">Not excluded: ${state.fault}.</p>`}</div>`;
}

/** All excluded keys, and why. */
export function Quarantined({ studies }: {
  readonly studies: readonly StudyProgress[];
}): VNode | null {
  const rows =
    studies.flatMap(({ name, quarantined }) => quarantined.map((entry) => ({ name, ...entry })));
  if (rows.length === 0) return null;
  return html`<div class="stack"><h3>Excluded, the newest first</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Excluded keys"><table>
    <thead><tr><th scope="col">Key</th><th scope="col">Distance</th><th scope="col">From epoch</th>
    <th scope="col">Since</th><th scope="col">Study</th></tr></thead>
    <tbody>${rows.map(({ name, contributor, fromEpoch, distance, atMs }) =>
      html`<tr key=${`${name}${contributor}`}>
      <th scope="row" class="code" title=${contributor}>${contributor.slice(0, 12)}…</th>
      <td>${amount(distance)}</td><td>${whole(BigInt(fromEpoch))}</td><td>${clockTime(atMs)}</td>
      <td>${name}</td></tr>`)}</tbody></table></div></div>`;
}
