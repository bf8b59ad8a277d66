// One row from one person, kept in the browser until the aggregator has it on disk: closing the
// page loses nothing.
import { createContributor, openOutbox, openSeed } from './keelson-contribute.js';

const study = 'sleep-survey';
const { aggregator } = await (await fetch('settings.json')).json();
const form = document.querySelector('#survey');
const button = document.querySelector('#send');
const status = document.querySelector('#status');

function say(text) {
  status.textContent = text;
}

function describe(result) {
  if (result.kind === 'accepted') {
    return `Thank you: your answers are in, and count in round ${result.epoch}.`;
  }
  return `Your answers were not taken: ${result.error.message}.`;
}

try {
  const [seed, outbox] = await Promise.all([openSeed(study), openOutbox(study)]);
  const contributor = createContributor({ url: aggregator, study, seed, outbox });
  void follow(contributor);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const answers = new FormData(form);
    const columns = ['sleep_hours', 'coffee_cups', 'wellbeing'];
    const row = columns.map((name) => Number(answers.get(name)));
    button.disabled = true;
    say('Sending ...');
    contributor.contribute([row])
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
