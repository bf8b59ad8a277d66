import { ask, servedIn, type Answer } from './ask.js';
import { fail, ok, warn, type Finding } from './finding.js';
import { wayFinding } from './way.js';

const dayMs = 86_400_000;
/** The header Date has whole seconds, and an answer takes a moment. */
const clockNearMs = 5_000;

/**
 * Checks of a running server, by its public answers.
 * @param address like http://host:port, or with https.
 */
export async function serverFindings(address: URL, nowMs: () => number): Promise<Finding[]> {
  let health: Answer;
  const from = nowMs();
  try {
    health = await ask(new URL('/healthz', address));
  } catch (error) {
    return [fail('server', `no answer from ${address.origin}: ${(error as Error).message}`,
      'check that it runs, its --host and --port, and the proxy and firewall before it')];
  }
  const to = nowMs();
  const page = await ask(new URL('/', address));
  const metrics = await ask(new URL('/metrics', address));
  const studies = await ask(new URL('/v1/studies', address));
  return [
    healthFinding(health),
    dateFinding(health.dateMs, from, to),
    tlsFinding(address, health, to),
    page.status === 200 ? ok('dashboard', 'is served')
      : warn('dashboard', `answers ${page.status}`, 'run npm run build where it was installed'),
    metrics.status === 200
      ? fail('metrics', 'are open to everybody', 'let the proxy pass /metrics to the operator only')
      : ok('metrics', 'are for the operator only'),
    await wayFinding(address),
    ...studyFindings(studies),
  ];
}

/** The fault and its remedy, by the status that /healthz names. */
const ailments: Readonly<Record<string, readonly [found: string, remedy: string]>> = {
  stopping: ['is stopping', 'start it again'],
  'database-away': ['its database does not answer',
    'check that the database runs and can be reached; nothing that was acknowledged is lost'],
  'database-full': ['the disk of its database is full: batches are refused, and releases wait',
    'free space on that disk; it goes on by itself within seconds'],
  'encryption-key-missing': ['it lacks an encryption key, so it cannot take all batches',
    'give it the folder that the other servers have with --encryption-keys; its log names the key'],
};

function healthFinding({ status, text }: Answer): Finding {
  if (status === 200) return ok('server', 'says that it is well');
  const named = /"status": *"([a-z-]+)"/.exec(text)?.[1] ?? '';
  const known = status === 503 && Object.hasOwn(ailments, named) ? ailments[named] : undefined;
  if (known !== undefined) return fail('server', ...known);
  return fail('server', `answers ${status} to /healthz`, status === 503
    ? 'start it again, or look at the proxy before it'
    : 'name it with --allow-host, and look at the proxy before it');
}

function dateFinding(dateMs: number, from: number, to: number): Finding {
  if (Number.isNaN(dateMs)) {
    return warn('clock', 'the answer has no Date', 'let the proxy keep the header Date');
  }
  const off = dateMs < from ? from - dateMs : Math.max(0, dateMs - to);
  if (off <= clockNearMs) return ok('clock', 'like this machine\'s, within five seconds');
  return (off > 60_000 ? fail : warn)('clock', `${Math.round(off / 1000)} s from this machine's`,
    'run a time service such as chrony on both: epochs and budgets follow the server\'s clock');
}

function tlsFinding(address: URL, { validToMs, distrust }: Answer, nowMs: number): Finding {
  if (validToMs === undefined) {
    const isNear = ['localhost', '127.0.0.1', '[::1]'].includes(address.hostname);
    return isNear ? ok('TLS', 'none, on this machine') : warn('TLS', 'none',
      'give serve --tls-cert and --tls-key, or put a proxy that speaks TLS in front of it');
  }
  const days = Math.floor((validToMs - nowMs) / dayMs);
  const renew = 'renew the certificate, then send SIGHUP to the server';
  if (days < 3) return fail('TLS', `the certificate ends in ${days} days`, renew);
  if (distrust !== undefined) {
    return fail('TLS', `not trusted here: ${distrust}`,
      'serve the whole chain, for this name, from an issuer that clients trust');
  }
  const text = `the certificate ends in ${days} days`;
  return days < 21 ? warn('TLS', text, renew) : ok('TLS', text);
}

function studyFindings(answer: Answer): Finding[] {
  const served = servedIn(answer);
  if (typeof served === 'string') {
    return [warn('studies', served, 'let the proxy pass /v1/studies on')];
  }
  const { studies } = served;
  if (studies.length === 0) {
    return [warn('studies', 'none', 'give serve a study file, or look why it left them out')];
  }
  return studies.map(({ name, state }) => (state === 'exhausted'
    ? warn(`study ${name}`, 'its budget is spent', 'plan the next study, with a budget of its own')
    : ok(`study ${name}`, state)));
}
