import { encodeLogLine } from '../../../src/log/index.js';
import { decodeHeadBody } from '../../../src/wire/index.js';
import type { StudyHub, StudyView } from '../contract.js';

/** The source of the lines of a log. */
export interface LogSource {
  readonly hub: Pick<StudyHub, 'head' | 'releases' | 'rotations' | 'serverKey'>;
  readonly view: Pick<StudyView, 'studyId' | 'facts' | 'factsSignature'>;
  /** Index of the first release; the others come before it. */
  readonly from: number;
  /** Releases, and bytes of them, that are read at once. */
  readonly page: { readonly releases: number; readonly bytes: number };
  /** Waits for its turn to read. Default: reads at once. */
  readonly inTurn?: <T>(read: () => Promise<T>) => Promise<T>;
}

/**
 * The release log of a study, a line at a time and without newlines: its facts, the changes of the
 * server's key, its releases, and a signed head. The head is read first and states where to stop.
 * So the log stays consistent when a release is published meanwhile. Memory is that of one page. If
 * the store has fewer releases than the head states, those that it has are followed by the head.
 */
export async function* linesOfLog(
  { hub, view, from, page, inTurn = (read) => read() }: LogSource,
): AsyncGenerator<string> {
  const head = await hub.head(view.studyId);
  const count = Number(decodeHeadBody(head.body).count);
  yield encodeLogLine({
    type: 'study', facts: view.facts, serverKey: hub.serverKey, signature: view.factsSignature,
  });
  for (const record of hub.rotations) yield encodeLogLine({ type: 'rotation', record });
  for (let next = from; next < count;) {
    const most = Math.min(page.releases, count - next);
    const found = await inTurn(() => hub.releases(view.studyId, next, most, page.bytes));
    if (found.length === 0) break;
    for (const { body, signature } of found) {
      yield encodeLogLine({ type: 'release', body, signature });
    }
    next += found.length;
  }
  yield encodeLogLine({ type: 'head', ...head });
}
