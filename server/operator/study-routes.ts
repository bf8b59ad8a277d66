import { findStudy, type Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/**
 * Ends a study for good. Its open epoch is released as planned, and none follows. A repeated
 * request changes nothing.
 */
export async function endStudy(exchange: Exchange): Promise<void> {
  const { hub, query, logger, response } = exchange;
  const { studyId, name } = findStudy(hub, query.get('study'));
  if (hub.endStudy === undefined) {
    throw new HttpError(404, 'not-found', 'the studies of this server cannot be ended');
  }
  logger.warn({ study: name, studyId }, 'the operator ends a study');
  await hub.endStudy(studyId);
  response.writeHead(204).end();
}
