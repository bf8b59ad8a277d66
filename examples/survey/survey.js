// One row from one person, kept in the browser until the aggregator has it on disk: closing the
// page loses nothing. The form has a field for each column of the study, in their order.
import './keelson-chart.js';
import { createContributor, openOutbox, openSeed } from './keelson-contribute.js';

/** Charts below the form at most: a histogram has a number for each bin. */
const chartsMax = 6;
const { url, key, study } = await (await fetch('settings.json')).json();
const form = document.querySelector('#survey');
const button = document.querySelector('#send');
const status = document.querySelector('#status');

function say(text) {
  status.textContent = text;
}

/**
 * The answers in the order of the fields, null where an optional one is left out. A row of numbers
 * alone is kept in the browser also before the aggregator has told which columns the study has.
 */
function rowOf(answers) {
  const fields = new Map([...form.elements].filter(({ name }) => name !== '')
    .map((field) => [field.name, field]));
  return [...fields].map(([name, { type, dataset }]) => {
    if (type === 'checkbox') return answers.has(name);
    const value = answers.get(name);
    if (value === '') return null;
    return type === 'number' || 'number' in dataset ? Number(value) : value;
  });
}

function describe(result) {
  if (result.kind === 'accepted') {
    return `Thank you: your answers are in, and count in round ${result.epoch}.`;
  }
  return `Your answers were not taken: ${result.error.message}.`;
}

/** Shows the numbers of all people, live; each is verified against the key of the aggregator. */
function showResults() {
  if (key === null) return;
  const charts = [];
  const add = (name) => {
    const chart = document.createElement('keelson-chart');
    const server = url.replace(/^ws/, 'http');
    const attributes = { server, study, 'server-key': key, chart: name, last: 30, heading: '' };
    for (const [each, value] of Object.entries(attributes)) chart.setAttribute(each, value);
    charts.push(chart);
    document.querySelector('#results').append(chart);
    return chart;
  };
  // The first release tells which numbers the study has.
  const first = add('');
  first.addEventListener('keelson-release', () => {
    for (const name of first.charts.slice(charts.length, chartsMax)) add(name);
  });
  document.querySelector('#results').hidden = false;
}

try {
  showResults();
  const [seed, outbox] = await Promise.all([openSeed(study), openOutbox(study)]);
  const contributor = createContributor({ url, study, seed, outbox });
  void follow(contributor);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    say('Sending ...');
    contributor.contribute([rowOf(new FormData(form))])
      .then((result) => say(describe(result)), (error) => say(error.message));
  });
  document.documentElement.dataset.ready = 'true';
} catch (error) {
  button.disabled = true;
  say(error.message);
}

async function follow(contributor) {
  let kept = false;
  for await (const news of contributor.status()) {
    if (news.kind === 'kept') kept = true;
    if (news.kind === 'recovered') say(`From your last visit. ${describe(news.result)}`);
    if (news.kind === 'reconnecting' && kept) {
      say('No connection. Your answers are kept in this browser and sent as soon as there is one.');
    }
    if (news.kind === 'ended' && news.error !== null) {
      button.disabled = true;
      say(news.error.message);
    }
  }
}
