import {
  KeelsonError, LogError, subscribe, systemRuntime, type StudyDocument, type VerifiedRelease,
} from '../../client/index.js';

/** The state of an element's connection to its study. `text` is for people. */
export interface ElementState {
  readonly kind: 'connecting' | 'checking' | 'live' | 'reconnecting' | 'ended' | 'failed';
  readonly text: string;
}

/** The study that an element follows. */
export interface Followed {
  readonly server: string;
  readonly study: string;
  /** Hexadecimal, 64 digits. */
  readonly key: string;
}

/** Receives the findings of the subscription. */
export interface Hearers {
  /** The study's signed facts, before its first release. */
  onStudy(document: StudyDocument): void;
  onRelease(release: VerifiedRelease): void;
  onState(state: ElementState): void;
}

/** Verification lets the page draw after this time. */
const sliceMs = 8;

/** Follows a study until the signal ends it. Nothing reaches `onRelease` that does not verify. */
export async function followStudy(
  { server, study, key }: Followed, hearers: Hearers, signal: AbortSignal,
): Promise<void> {
  const tell = (state: ElementState): void => { if (!signal.aborted) hearers.onState(state); };
  tell({ kind: 'connecting', text: 'Connecting' });
  let document: StudyDocument | null = null;
  try {
    if (!/^[0-9a-f]{64}$/i.test(key)) {
      throw new KeelsonError('invalid-parameter', 'server-key is not 64 digits: copy the server '
        + 'key that "keelson serve" prints');
    }
    const serverKey = Uint8Array.from(key.match(/../g)!, (pair) => parseInt(pair, 16));
    const releases = subscribe({ url: server, study, serverKey, signal, sliceMs });
    releases.onConnected(() => tell({ kind: 'checking', text: 'Checking the log' }));
    releases.onHead(() => tell({ kind: 'live', text: 'Live' }));
    releases.onReconnecting((_, retryInMs) => tell({
      kind: 'reconnecting',
      text: `No connection: next attempt in ${Math.ceil(retryInMs / 1000)} s`,
    }));
    for await (const release of releases) {
      if (signal.aborted) return;
      if (document === null) hearers.onStudy(document = release.document);
      hearers.onRelease(release);
    }
    tell({ kind: 'ended', text: 'The study has ended' });
  } catch (error) {
    tell({ kind: 'failed', text: faultText(error) });
  }
}

function faultText(error: unknown): string {
  if (error instanceof LogError) return `The log does not verify: ${error.message}`;
  if (error instanceof KeelsonError && error.code === 'server-key-mismatch') {
    return 'The server has another key than this page expects, so nothing of it is shown';
  }
  return error instanceof Error ? error.message : 'The chart failed';
}

/** Runs an action once for all calls within a short time. */
export function gathered(action: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    systemRuntime.after(16, () => {
      isWaiting = false;
      action();
    });
  };
}
