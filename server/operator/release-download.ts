import type { ServerResponse } from 'node:http';
import { linesOfLog } from '../studies/release/log-lines.js';
import { findStudy, releaseIndex, type Exchange } from './exchange.js';

/** The release log of a study as JSON lines. Reading in pages keeps memory small for long logs. */
export async function releaseLog(exchange: Exchange): Promise<void> {
  const { hub, limits, logReads, query, response } = exchange;
  const view = findStudy(hub, query.get('study'));
  const from = releaseIndex(query.get('from'), 'from');
  response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  if (exchange.isHead) return void response.end();
  const lines = linesOfLog({
    hub, view, from, inTurn: (read) => logReads.page(read),
    page: { releases: limits.releasesPerPage, bytes: limits.releasePageBytes },
  });
  for await (const line of lines) {
    if (response.destroyed) return;
    await write(response, line);
  }
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
