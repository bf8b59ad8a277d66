import { html as template } from 'htm/preact';
import { signal, type Signal } from '@preact/signals';
import { render, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { subscribe, type VerifiedRelease } from '../client/index.js';
import { createChart } from './chart.js';
import { labelsOf, seriesOf, shown, withRelease, type Series, type StudyEntry } from './model.js';

/** Every template here has one root. */
const html = template as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

interface Followed {
  readonly study: StudyEntry;
  readonly releases: Signal<readonly VerifiedRelease[]>;
  readonly line: Signal<string>;
}

const followed = signal<readonly Followed[] | null>(null);
const failure = signal('');

/** Follows one study until it ends. Every release was verified by the client before it is shown. */
async function follow({ study, releases, line }: Followed, serverKey: Uint8Array): Promise<void> {
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}`;
  const verified = 'Live. Every signature and the chain are verified here.';
  try {
    const subscription = subscribe({ url, study: study.id, serverKey });
    subscription.onReconnecting((_reason, retryInMs) => {
      line.value = `Not connected: trying again in ${(retryInMs / 1000).toFixed(1)} s.`;
    });
    for await (const release of subscription) {
      releases.value = withRelease(releases.value, release);
      line.value = verified;
    }
    line.value = subscription.head?.state === 'exhausted'
      ? 'Ended: the privacy budget is used up. The whole chain is verified.'
      : 'Ended by its operator. The whole chain is verified.';
  } catch (error) {
    line.value = `Stopped: ${error instanceof Error ? error.message : 'the log could not be verified'}`;
  }
}

function Chart({ series, label }: { series: Series; label: string }): VNode {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ReturnType<typeof createChart> | null>(null);
  useEffect(() => {
    chart.current = createChart(host.current!, series);
    return () => chart.current?.close();
  }, []);
  useEffect(() => chart.current?.update(series), [series]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${host}></div>`;
}

function Column({ name, series }: { name: string; series: Series }): VNode {
  // A refusal does not take away what was released before.
  const place = series.values.findLastIndex((value) => value !== null);
  const [value, low, high] = [series.values[place], series.lows[place], series.highs[place]];
  const range = typeof low === 'number' ? `95 % interval ${shown(low)} to ${shown(high)}` : 'no interval';
  return html`<section class="column"><h3>${name}</h3><p class="value">${shown(value)}</p>
    <p class="quiet">${range}</p>
    <${Chart} series=${series} label=${`${name} over epochs, now ${shown(value)}`} /></section>`;
}

function Study({ followed: { study, releases, line } }: { followed: Followed }): VNode {
  const last = releases.value.at(-1)?.release;
  const { document } = study;
  const columns = labelsOf(releases.value).map((name, place) =>
    html`<${Column} key=${name} name=${name} series=${seriesOf(releases.value, place)} />`);
  const refused = last?.outcome.kind === 'refused' && html`<p class="warn">Epoch ${String(last.epoch)} was refused. ${' '}
    ${last.outcome.text}</p>`;
  const ledger = last?.ledger;
  return html`<article class="study"><h2>${study.name}</h2>
    <p class="quiet">${document.estimator} over ${document.columns.join(', ')}</p>
    <p role="status">${line.value}</p>${refused}
    <div class="columns">${columns}</div>
    ${ledger && html`<p>Privacy loss ${shown(ledger.epsilonSpent)} of ${shown(ledger.epsilonCap)} epsilon.</p>
      <progress aria-label="Privacy budget spent" max=${ledger.epsilonCap} value=${ledger.epsilonSpent}></progress>`}
    ${last?.guarantee && html`<p>${last.guarantee}</p>`}
    <p><a href=${`/v1/releases?study=${study.id}`} download=${`${study.name}.jsonl`}>Download the release log</a></p>
  </article>`;
}

function Page(): VNode {
  const list = followed.value;
  const studies = list === null ? html`<p class="quiet">${failure.value || 'Asking the aggregator for its studies.'}</p>`
    : list.length === 0 ? html`<p class="quiet">This aggregator has no study yet.</p>`
      : list.map((each) => html`<${Study} key=${each.study.id} followed=${each} />`);
  return html`<main><h1>Keelson</h1>${studies}</main>`;
}

async function start(): Promise<void> {
  render(html`<${Page} />`, document.getElementById('page')!);
  try {
    const answer = await fetch('/v1/studies');
    const { studies, serverKey } = (await answer.json()) as { studies: StudyEntry[]; serverKey: string };
    const key = Uint8Array.from(serverKey.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    followed.value = studies.map((study) => ({ study, releases: signal([]), line: signal('Waiting for a release.') }));
    for (const each of followed.value) void follow(each, key);
  } catch {
    failure.value = 'The aggregator does not answer: reload this page to try again.';
  }
}

void start();
