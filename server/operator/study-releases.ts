import { createHash } from 'node:crypto';
import { toBase64, toHex } from '../../src/base/bytes.js';
import { decodeHeadBody } from '../../src/wire/index.js';
import { HttpError } from './http-error.js';
import { findStudy, releaseIndex, type Exchange } from './exchange.js';
import { releaseLog } from './release-download.js';

/**
 * The releases of a study in the form that the reader accepts: a stream of events, the log as JSON
 * lines, or, by default, one page as JSON.
 */
export async function studyReleases(exchange: Exchange): Promise<void> {
  const { accept = '' } = exchange.request.headers;
  exchange.response.setHeader('Vary', 'Accept, Origin');
  if (accept.includes('text/event-stream')) return releaseEvents(exchange);
  if (accept.includes('application/x-ndjson')) return releaseLog(exchange);
  return releasePage(exchange);
}

/**
 * The stream begins after the last event that the reader got before, or at `from`. A log that does
 * not have that event is another one than the reader's, so the stream would wait for releases that
 * the reader seems to have.
 * @throws HttpError 409 when there is no such event.
 */
async function releaseEvents(exchange: Exchange): Promise<void> {
  const { events, hub, isHead, query, request, response } = exchange;
  const view = findStudy(hub, query.get('study'));
  const last = String(request.headers['last-event-id'] ?? '');
  const from = last === '' ? releaseIndex(query.get('from'), 'from')
    : releaseIndex(last, 'Last-Event-ID') + 1;
  if (last !== '') {
    // If there are several servers, another one may have added the release. The head is read from
    // the store.
    const { count } = decodeHeadBody((await hub.head(view.studyId)).body);
    if (count < BigInt(from)) {
      throw new HttpError(409, 'beyond-log', `the log has ${count} releases, so none with the index `
        + `${last} of Last-Event-ID: begin again without it, and check whether the study was `
        + 'replaced or its server restored from a backup');
    }
  }
  if (!isHead) return events(request, response, view, from);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.end();
}

/** A page of releases, and the head of the log. Its ETag changes when it does. */
async function releasePage({
  hub, isHead, limits, logReads, query, request, response,
}: Exchange): Promise<void> {
  const view = findStudy(hub, query.get('study'));
  const from = releaseIndex(query.get('from'), 'from');
  const head = await hub.head(view.studyId);
  const tag = createHash('sha256').update(head.body).update(`${from}`).digest('base64url');
  response.setHeader('ETag', `"${tag}"`);
  // A reader may keep the answer, and asks each time whether it still holds.
  response.setHeader('Cache-Control', 'no-cache');
  if (request.headers['if-none-match']?.includes(`"${tag}"`) === true) {
    response.statusCode = 304;
    return void response.end();
  }
  const count = Number(decodeHeadBody(head.body).count);
  const most = Math.max(0, Math.min(limits.releasesPerPage, count - from));
  const page = most === 0 ? [] : await logReads.page(() =>
    hub.releases(view.studyId, from, most, limits.releasePageBytes));
  const next = from + page.length;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(isHead ? undefined : `${JSON.stringify({
    study: view.studyId,
    name: view.name,
    serverKey: toHex(hub.serverKey),
    releases: page.map(({ index, epoch, body, signature }) =>
      ({ index, epoch: String(epoch), body: toBase64(body), signature: toBase64(signature) })),
    next: next < count ? next : null,
    head: { count, body: toBase64(head.body), signature: toBase64(head.signature) },
  })}\n`);
}
