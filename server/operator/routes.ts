import { toBase64, toHex } from '../../src/base/bytes.js';
import { signing } from '#signing';
import { keyFingerprint } from '../../src/signing/index.js';
import { aboutStudy } from './about-study.js';
import { evidence, quarantine } from './evidence-route.js';
import type { Exchange } from './exchange.js';
import { HttpError } from './http-error.js';
import { ledgerView } from './ledger-view.js';
import { pageFile } from './pages.js';
import { questionProgress } from './question-progress.js';
import { releaseLog } from './release-download.js';
import { studyReleases } from './study-releases.js';
import { signIn, signOut } from './session-routes.js';
import { addNote, publicNotes, removeNote, studyNotes } from './note-routes.js';
import { endStudy, pauseStudy, resumeStudy } from './study-routes.js';

export interface Route {
  readonly access: 'public' | 'operator';
  /**
   * The route changes something: it accepts POST, from this server's own pages only. Default: it
   * accepts GET and HEAD.
   */
  readonly changes?: true;
  /**
   * The route accepts POST with a body, from every client that may open a WebSocket. It checks
   * origin and rate itself.
   */
  readonly takesBody?: true;
  /** The route answers under any host name: it reveals no more than a port scan. */
  readonly anyHost?: true;
  answer(exchange: Exchange): Promise<void>;
}

/** Pages of other sites may show it in a frame, if the operator listed them. */
const embedPage = pageFile('embed.html', 'text/html', true);

/** All routes of the HTTP server, by path. */
export const routes: Readonly<Record<string, Route>> = {
  '/': { access: 'public', answer: pageFile('index.html', 'text/html') },
  '/favicon.svg': { access: 'public', answer: pageFile('favicon.svg', 'image/svg+xml') },
  '/shell.css': { access: 'public', answer: pageFile('shell.css', 'text/css') },
  '/dashboard.css': { access: 'public', answer: pageFile('dashboard.css', 'text/css') },
  '/dashboard.js': { access: 'public', answer: pageFile('dashboard.js', 'text/javascript') },
  '/uplot.css': { access: 'public', answer: pageFile('uplot.css', 'text/css') },
  '/operator': { access: 'public', answer: pageFile('operator.html', 'text/html') },
  '/operator.css': { access: 'public', answer: pageFile('operator.css', 'text/css') },
  '/operator.js': { access: 'public', answer: pageFile('operator.js', 'text/javascript') },
  '/plan': { access: 'public', answer: pageFile('plan.html', 'text/html') },
  '/plan.css': { access: 'public', answer: pageFile('plan.css', 'text/css') },
  '/plan.js': { access: 'public', answer: pageFile('plan.js', 'text/javascript') },
  '/plan-worker.js': { access: 'public', answer: pageFile('plan-worker.js', 'text/javascript') },
  '/kiosk': { access: 'public', answer: embedPage },
  '/embed.css': { access: 'public', answer: pageFile('embed.css', 'text/css') },
  '/embed.js': { access: 'public', answer: pageFile('embed.js', 'text/javascript') },
  '/keelson-chart.js': {
    access: 'public', answer: pageFile('keelson-chart.js', 'text/javascript'),
  },
  '/healthz': { access: 'public', anyHost: true, answer: health },
  // It names studies, so it answers under the server's own names only.
  '/readyz': { access: 'public', answer: ready },
  '/metrics': { access: 'operator', answer: metrics },
  '/v1/studies': { access: 'public', answer: studies },
  '/v1/releases': { access: 'public', answer: releaseLog },
  '/v1/batches': {
    access: 'public', takesBody: true, anyHost: true,
    answer: ({ upload, request, response }) => upload(request, response),
  },
  '/v1/once': {
    access: 'public', takesBody: true, anyHost: true,
    answer: ({ once, request, response }) => once(request, response),
  },
  '/v1/ledger': { access: 'public', answer: ledger },
  '/v1/operator/progress': { access: 'operator', answer: progress },
  '/v1/operator/evidence': {
    access: 'operator', answer: async (exchange) => sendJson(exchange, await evidence(exchange)),
  },
  '/v1/operator/quarantine': {
    access: 'operator', changes: true,
    answer: async (exchange) => sendJson(exchange, await quarantine(exchange)),
  },
  '/v1/operator/history': { access: 'operator', answer: history },
  '/v1/operator/end-study': { access: 'operator', changes: true, answer: endStudy },
  '/v1/operator/pause-study': { access: 'operator', changes: true, answer: pauseStudy },
  '/v1/operator/resume-study': { access: 'operator', changes: true, answer: resumeStudy },
  '/v1/operator/add-note': {
    access: 'operator', changes: true,
    answer: async (exchange) => sendJson(exchange, addNote(exchange)),
  },
  '/v1/operator/remove-note': {
    access: 'operator', changes: true, answer: async (exchange) => removeNote(exchange),
  },
  '/v1/operator/sign-in': { access: 'operator', changes: true, answer: signIn },
  '/v1/operator/sign-out': { access: 'public', changes: true, answer: signOut },
};

/** A script that the dashboard loads later. Its name has the hash of its content. */
const partName = /^\/part-[A-Z0-9]{8}\.js$/;

/** Routes whose path names a study, by the part after its name or id. */
const studyRoutes: Readonly<Record<string, Route>> = {
  releases: { access: 'public', answer: studyReleases },
  notes: {
    access: 'public', answer: async (exchange) => sendJson(exchange, studyNotes(exchange)),
  },
  // The client knows the id already, and learns what every contributor learns: so any host will do.
  open: { access: 'public', anyHost: true, answer: openEpoch },
};

/**
 * The route of a path.
 * @returns undefined when there is none; `study` as written in the path, where it names one.
 */
export function routeOf(path: string): { route: Route; study?: string } | undefined {
  if (Object.hasOwn(routes, path)) return { route: routes[path]! };
  if (partName.test(path)) {
    return { route: { access: 'public', answer: pageFile(path.slice(1), 'text/javascript') } };
  }
  if (/^\/embed\/[^/]+$/.test(path)) return { route: { access: 'public', answer: embedPage } };
  const [, study, name = ''] = /^\/v1\/studies\/([^/]+)\/([a-z]+)$/.exec(path) ?? [];
  if (study === undefined || !Object.hasOwn(studyRoutes, name)) return undefined;
  return { route: studyRoutes[name]!, study };
}

function sendJson(exchange: Exchange, value: unknown, status = 200): void {
  exchange.response.statusCode = status;
  exchange.response.setHeader('Content-Type', 'application/json; charset=utf-8');
  exchange.response.end(exchange.isHead
    ? undefined
    : `${JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? String(each) : each))}\n`);
}

/**
 * Public: the server runs, and on a shared store whether the database answers. For the operator:
 * its load.
 */
async function health(exchange: Exchange): Promise<void> {
  const status = statusOf(exchange);
  const { totals } = exchange.metrics;
  // A database that is away would keep the answer waiting.
  const store = status === 'database-away' || !exchange.operator
    ? null : (await exchange.storeHealth?.()) ?? null;
  const node = exchange.hub.node?.() ?? null;
  const details = exchange.operator
    ? { overloaded: exchange.hub.overloaded(), ...totals, store, ...(node !== null && { node }) }
    : {};
  sendJson(exchange, { status, ...details }, status === 'ok' ? 200 : 503);
}

/** Public: whether this server takes batches now, and on a shared store which studies it leads. */
async function ready(exchange: Exchange): Promise<void> {
  const health = statusOf(exchange);
  const status = health !== 'ok' ? health
    : !exchange.takesBatches ? 'takes-no-batches'
      : exchange.hub.overloaded() ? 'overloaded' : 'ok';
  const node = exchange.hub.node?.() ?? null;
  const role = node === null ? {} : {
    leads: node.leads, follows: node.follows,
    ...(node.leadsNothing !== null && { leadsNothing: node.leadsNothing }),
  };
  sendJson(exchange, { status, ...role }, status === 'ok' ? 200 : 503);
}

function statusOf(
  { hub, isStopping }: Exchange,
): 'ok' | 'stopping' | 'database-away' | 'database-full' | 'encryption-key-missing' {
  if (isStopping()) return 'stopping';
  const { storeAwaySeconds = null, lacksKey = false } = hub.node?.() ?? {};
  if (storeAwaySeconds !== null) return 'database-away';
  if (hub.storeFull?.() === true) return 'database-full';
  return lacksKey ? 'encryption-key-missing' : 'ok';
}

async function metrics(exchange: Exchange): Promise<void> {
  const text = await exchange.metrics.registry.render();
  exchange.response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
  exchange.response.end(exchange.isHead ? undefined : text);
}

/**
 * The signed facts and the state of each study: the contents of Welcome, for readers without a
 * socket.
 */
async function studies(exchange: Exchange): Promise<void> {
  const { hub } = exchange;
  sendJson(exchange, {
    serverKey: toHex(hub.serverKey),
    studies: hub.studies().map((view) => ({
      id: view.studyId,
      name: view.name,
      state: view.state,
      epoch: String(view.epoch),
      closesAtMs: view.closesAtMs,
      releases: view.releaseCount,
      document: view.document,
      ...aboutStudy(view.document),
      facts: toBase64(view.facts),
      signature: toBase64(view.factsSignature),
    })),
  });
}

/**
 * The open epoch of a study and its Welcome, for people who send once: they have no socket that
 * brings them. A cache between them and the server may answer for a few seconds. It may answer
 * pages of any origin: whoever knows the id can read this under any host name.
 */
async function openEpoch(exchange: Exchange): Promise<void> {
  const view = exchange.hub.study((exchange.query.get('study') ?? '').toLowerCase());
  if (view === undefined) {
    const text = 'no study has this id: /v1/studies lists those of this server';
    throw new HttpError(404, 'unknown-study', text);
  }
  exchange.response.setHeader('Cache-Control', 'max-age=5');
  exchange.response.setHeader('Access-Control-Allow-Origin', '*');
  exchange.response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  exchange.response.removeHeader('Vary');
  sendJson(exchange, {
    epoch: String(view.epoch), closesAtMs: view.closesAtMs, encryptedOnly: exchange.encryptedOnly,
    welcome: toBase64(exchange.welcome(view)),
  });
}

async function ledger(exchange: Exchange): Promise<void> {
  const { hub } = exchange;
  const rollbacks = (await hub.rollbacks?.()) ?? [];
  sendJson(exchange, { unit: '2^-64', budgets: await ledgerView(hub), rollbacks });
}

/**
 * Most exclusions on the page. An automatic rule may exclude thousands; `keelson ledger` lists as
 * many as requested.
 */
const quarantinedShown = 50;

/** The server's figures, and the outcomes of its studies' epochs. For the operator only. */
async function history(exchange: Exchange): Promise<void> {
  const { figures, outcomes } = exchange;
  sendJson(exchange, { samples: figures.samples, studies: await outcomes.read() });
}

/** Exact participation. For the operator only. */
async function progress(exchange: Exchange): Promise<void> {
  const { hub, notes, metrics: counted } = exchange;
  const rows = await Promise.all(hub.studies().map(async (view) => ({
    id: view.studyId,
    name: view.name,
    state: view.state,
    paused: hub.isPaused?.(view.studyId) === true,
    epoch: String(view.epoch),
    closesAtMs: view.closesAtMs,
    cohort: view.document.cohort,
    everyMs: 'everyMs' in view.document.epoch ? view.document.epoch.everyMs : null,
    releases: view.releaseCount,
    progress: await hub.progress(view.studyId),
    questions: await questionProgress(hub, view),
    notes: publicNotes(notes, view.studyId),
    leftOut: (await hub.leftOut?.(view.studyId)) ?? 0,
    beyond: view.document.quarantine?.beyond ?? null,
    automatic: view.document.quarantine?.automatic === true,
    quarantined: ((await hub.quarantines?.(view.studyId, quarantinedShown)) ?? [])
      .map(({ contributor, fromEpoch, distance, atMs }) => ({
        contributor, fromEpoch: String(fromEpoch), distance, atMs,
      })),
    batches: {
      accepted: counted.accepted.total({ study: view.name }),
      duplicates: counted.duplicates.total({ study: view.name }),
      refused: Object.fromEntries(counted.refused.by('code', { study: view.name })),
    },
  })));
  const unattributed = Object.fromEntries(counted.refused.by('code', { study: '' }));
  const refusedStudies =
    (hub.refused?.() ?? []).map(({ study, error }) => ({ study, reason: error.message }));
  sendJson(exchange, {
    serverKey: toHex(hub.serverKey), fingerprint: keyFingerprint(hub.serverKey, signing),
    atMs: exchange.clock.nowMs(), studies: rows, refused: unattributed, refusedStudies,
  });
}
