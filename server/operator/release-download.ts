import type { ServerResponse } from 'node:http';
import { encodeLogLine } from '../../src/log/index.js';
import { decodeHeadBody } from '../../src/wire/index.js';
import { findStudy, releaseIndex, type Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/**
 * The release log of a study as JSON lines: its facts, the changes of the server's key, its
 * releases from an index on, and a signed head. The head is taken first and says where to stop. So
 * the file stays consistent when a release is published meanwhile. Reading in pages keeps memory
 * small for logs of any length.
 */
export async function releaseLog(exchange: Exchange): Promise<void> {
  const { hub, limits, logReads, query, response } = exchange;
  const view = findStudy(hub, query.get('study'));
  const from = releaseIndex(query.get('from'), 'from');
  const head = await hub.head(view.studyId);
  const count = Number(decodeHeadBody(head.body).count);
  response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  if (exchange.isHead) return void response.end();
  const { serverKey, rotations } = hub;
  await write(response, encodeLogLine({
    type: 'study', facts: view.facts, serverKey, signature: view.factsSignature,
  }));
  for (const record of rotations) {
    await write(response, encodeLogLine({ type: 'rotation', record }));
  }
  let next = from;
  while (next < count && !response.destroyed) {
    const most = Math.min(limits.releasesPerPage, count - next);
    const page =
      await logReads.page(() => hub.releases(view.studyId, next, most, limits.releasePageBytes));
    if (page.length === 0) {
      throw new HttpError(500, 'internal', 'the release log is shorter than its head says');
    }
    for (const release of page) {
      await write(response, encodeLogLine({
        type: 'release', body: release.body, signature: release.signature,
      }));
    }
    next += page.length;
  }
  await write(response, encodeLogLine({ type: 'head', ...head }));
  response.end();
}

/** Resolves when there is room for more, or when the reader has gone. */
function write(response: ServerResponse, line: string): Promise<void> {
  if (response.destroyed || response.write(`${line}\n`)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
