import { KeelsonError } from '../../src/base/errors.js';
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

/**
 * Pauses a study: its open epoch is released as planned, and none follows until it is resumed. A
 * repeated request changes nothing.
 */
export async function pauseStudy(exchange: Exchange): Promise<void> {
  const { hub, query, logger, response } = exchange;
  const { studyId, name } = findStudy(hub, query.get('study'));
  if (hub.pauseStudy === undefined) {
    throw new HttpError(404, 'not-found', 'the studies of this server cannot be paused');
  }
  try {
    await hub.pauseStudy(studyId);
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'unsupported') throw error;
    throw new HttpError(403, 'cannot-pause', error.message);
  }
  logger.warn({ study: name, studyId }, 'the operator pauses a study');
  response.writeHead(204).end();
}

/**
 * Opens the next epoch of a paused study. A study that is held needs the number of the epoch in
 * which it was. A repeated request changes nothing.
 */
export async function resumeStudy(exchange: Exchange): Promise<void> {
  const { hub, query, logger, response } = exchange;
  const { studyId, name } = findStudy(hub, query.get('study'));
  const epoch = query.get('epoch');
  if (epoch !== null && !/^[0-9]{1,20}$/.test(epoch)) {
    throw new HttpError(400, 'malformed', 'an epoch is a whole number');
  }
  try {
    await hub.resumeStudy?.(studyId, epoch === null ? undefined : BigInt(epoch));
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'unsupported') throw error;
    throw new HttpError(409, 'study-held', error.message);
  }
  logger.warn({ study: name, studyId }, 'the operator resumes a study');
  response.writeHead(204).end();
}
