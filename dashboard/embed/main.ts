import { systemClock } from '../../client/base/clock.js';
import { KeelsonChart } from '../element/index.js';
import { requestOf, type EmbedRequest } from './request.js';
import { Turns, type Shown } from './turns.js';

const againMs = 5_000;
/** Attributes that the address may set for every chart. */
const passedOn = ['last', 'theme', 'heading'] as const;

interface ListedStudy {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

interface Listed {
  readonly serverKey: string;
  readonly studies: readonly ListedStudy[];
}

const page = document.getElementById('page')!;

function say(text: string): void {
  const message = document.createElement('p');
  message.className = 'message';
  message.setAttribute('role', 'status');
  message.textContent = text;
  page.replaceChildren(message);
}

/** The studies of this server, from which the page also is: so its key needs no other source. */
async function listed(): Promise<Listed> {
  const answer = await fetch('/v1/studies', { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  return await answer.json() as Listed;
}

function chartOf(study: string, key: string, { query, chart }: EmbedRequest): KeelsonChart {
  const element = new KeelsonChart();
  element.setAttribute('study', study);
  element.setAttribute('server-key', key);
  if (chart !== '' && chart !== 'all') element.setAttribute('chart', chart);
  for (const name of passedOn) {
    const value = query.get(name);
    if (value !== null) element.setAttribute(name, value);
  }
  return element;
}

/** The ids of the named studies, each in its open version. Without names: of all open studies. */
function wantedOf({ studies }: Listed, { studies: names }: EmbedRequest): readonly string[] {
  const open = studies.filter(({ state }) => state === 'open');
  if (names.length === 0) return open.map(({ id }) => id);
  return names.flatMap((name) => {
    const found = studies.filter((each) => each.id === name || each.name === name);
    return (found.find(({ state }) => state === 'open') ?? found[0])?.id ?? [];
  });
}

async function begin(request: EmbedRequest): Promise<void> {
  const list = await listed();
  const wanted = wantedOf(list, request);
  if (wanted.length === 0) {
    return say(request.studies.length === 0 ? 'No study is open on this server.'
      : 'There is no such study on this server.');
  }
  const heading = document.createElement('h1');
  heading.textContent = 'Keelson';
  const charts = wanted.map((study) => chartOf(study, list.serverKey, request));
  page.replaceChildren(heading, ...charts);
  if (request.every === null) return;
  page.classList.add('kiosk');
  const all: readonly Shown[] = charts.map((element) =>
    ({ element, isWhole: request.chart === '' || request.chart === 'all' }));
  page.append(new Turns(all, request.every).controls);
}

/** Tries until the server answers: nobody reloads the page of a screen on the wall. */
async function beginUntil(request: EmbedRequest): Promise<void> {
  try {
    await begin(request);
  } catch {
    say('The aggregator does not answer. This page asks again every five seconds.');
    systemClock.after(againMs, () => void beginUntil(request));
  }
}

const request = requestOf(location.pathname, location.search);
const { theme } = request;
if (theme !== null) document.documentElement.dataset['theme'] = theme;
void beginUntil(request);
