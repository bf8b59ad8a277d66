import { fromHex } from '../../src/base/bytes.js';
import { encodeServerFrame, type Notice } from '../../src/wire/index.js';
import type { HubEvent, StudyHub, StudyView } from '../studies/contract.js';
import type { ReleaseRecord } from '../store/contract.js';

/** The present state of a study, for its subscribers. */
export function noticeOf(view: StudyView, nowMs: number): Notice {
  const { studyId, state, epoch, closesAtMs, boxKeys } = view;
  return notice(studyId, state, epoch, closesAtMs, nowMs, boxKeys);
}

/** The frame of an event, the same for all subscribers of its study. */
export function eventFrame(event: HubEvent, hub: StudyHub, nowMs: number): Uint8Array {
  switch (event.kind) {
    case 'release':
      return releaseFrame(event.release);
    case 'epoch-opened': {
      const { state = 'open', boxKeys } = hub.study(event.studyId) ?? {};
      return encodeServerFrame(
        notice(event.studyId, state, event.epoch, event.closesAtMs, nowMs, boxKeys));
    }
    case 'study-replaced': {
      const view = hub.study(event.studyId);
      return encodeServerFrame(view === undefined
        ? notice(event.studyId, 'ended', 0n, 0, nowMs) : noticeOf(view, nowMs));
    }
    case 'study-stopped':
      return encodeServerFrame(notice(event.studyId, event.state, 0n, 0, nowMs));
  }
}

/** The frame of a stored release. */
export function releaseFrame(release: ReleaseRecord): Uint8Array {
  return encodeServerFrame({ kind: 'release', body: release.body, signature: release.signature });
}

/** @param closesAtMs 0 when the epoch closes on a count, or none is open. */
function notice(
  studyId: string, state: StudyView['state'], epoch: bigint, closesAtMs: number, nowMs: number,
  boxKeys?: readonly Uint8Array[],
): Notice {
  // On the wire 0 means "closes on a count", so an epoch that closes at this moment sends 1.
  const closesInMs = closesAtMs === 0 ? 0n : BigInt(Math.max(1, Math.round(closesAtMs - nowMs)));
  return {
    kind: 'notice', studyId: fromHex(studyId), state, epoch, closesInMs,
    ...(boxKeys !== undefined && { boxKeys }),
  };
}
