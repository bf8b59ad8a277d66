import { signing } from '#signing';
import { decodeReleaseBody, type ReleaseBody } from '../../src/wire/index.js';
import { verifyReleaseLog } from '../../src/log/index.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { HubEvent, StudyHub, StudyView } from '../studies/contract.js';
import { linesOfLog } from '../studies/release/log-lines.js';
import { refusalRemedies } from '../studies/release/refusal-remedies.js';
import type { AlertSettings } from '../study-file/settings.js';
import type { Alert, AlertKind } from './alert.js';
import { channelsOf, type AlertChannel } from './channels.js';
import { AlertOutbox } from './outbox.js';

/** The server that is watched. */
export interface WatchedServer {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface AlertWatch extends WatchedServer {
  readonly channels: readonly AlertChannel[];
  /** See `AlertSettings`. */
  readonly silentEpochs: number;
}

/** The interval of the search for silent studies. */
const lookMs = 10_000;
/** The interval between two verifications of each log. */
const verifyMs = 24 * 3_600_000;
const page = { releases: 256, bytes: 1 << 20 } as const;
/** Part of a budget that is nearly all of it. */
const nearlySpent = 0.8;

/**
 * The alerts that a study has already raised. None is raised again until its condition has changed.
 */
interface Told {
  /** Questions that were refused in the newest release, with the reason. */
  readonly refused: Map<string, string>;
  isNearlySpent: boolean;
  isSilent: boolean;
  isFalse: boolean;
  /** Unix time: the close of the newest release, or since when the study is watched. */
  lastMs: number;
}

/**
 * Alerts people to events that need a look: a release that was refused, a budget of which four
 * fifths are spent or all, a study that falls silent, a log that does not verify. Alerts contain
 * what published releases contain, and nothing about rows. If several servers share a database, the
 * leader of a study sends them.
 * @param channels default: those that the settings name.
 * @returns a function that stops it.
 */
export function watchForAlerts(
  settings: AlertSettings, server: WatchedServer,
  channels: readonly AlertChannel[] = channelsOf(settings),
): () => void {
  const { silentEpochs } = settings;
  const watch = new Watch({ ...server, channels, silentEpochs });
  const stop = server.hub.onEvent((event) => watch.take(event));
  watch.start();
  return () => {
    stop();
    watch.close();
  };
}

class Watch {
  readonly #told = new Map<string, Told>();
  readonly #outboxes: readonly AlertOutbox[];
  #cancels: (() => void)[] = [];
  #isClosed = false;

  constructor(private readonly options: AlertWatch) {
    const { channels, clock, logger } = options;
    this.#outboxes = channels.map((channel) => new AlertOutbox(channel, clock, logger));
  }

  start(): void {
    this.#every(lookMs, () => this.#lookForSilence());
    void this.#verifyAll();
    this.#every(verifyMs, () => void this.#verifyAll());
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#cancels) cancel();
    for (const outbox of this.#outboxes) outbox.close();
  }

  take(event: HubEvent): void {
    const study = this.options.hub.study(event.studyId);
    if (study === undefined || !this.#leads(study)) return;
    if (event.kind === 'release') this.#takeRelease(study, decodeReleaseBody(event.release.body));
    if (event.kind === 'study-stopped' && event.state === 'exhausted') {
      this.#tell('budget-spent', study, 'has spent its budget. No further epoch opens.',
        'This is as planned if the study was meant to end now. A spent budget cannot be refilled: '
        + 'a new study needs a budget of its own.');
    }
  }

  #takeRelease(study: StudyView, body: ReleaseBody): void {
    const told = this.#toldOf(study);
    told.lastMs = Number(body.closedAtMs);
    told.isSilent = false;
    for (const { question, outcome } of body.answers) {
      if (outcome.kind !== 'refused') told.refused.delete(question);
      else if (told.refused.get(question) !== outcome.reason) {
        told.refused.set(question, outcome.reason);
        const what = body.answers.length === 1 ? 'its answer' : `to answer ${question}`;
        this.#tell('answer-refused', study,
          `refused ${what} of epoch ${body.epoch} (${outcome.reason}): ${ended(outcome.text)}`,
          refusalRemedies[outcome.reason]);
      }
    }
    const { epsilonSpent, epsilonCap, windowMs } = body.ledger;
    const wasNearlySpent = told.isNearlySpent;
    told.isNearlySpent = epsilonSpent >= nearlySpent * epsilonCap;
    if (!told.isNearlySpent || wasNearlySpent) return;
    this.#tell('budget-nearly-spent', study,
      `has spent epsilon ${epsilonSpent.toPrecision(3)} of ${epsilonCap}.`,
      (windowMs ?? 0) > 0 ? 'The budget renews, so epochs may wait until older charges lapse.'
        : 'Plan the end of the study, or a new one with a budget of its own.');
  }

  #lookForSilence(): void {
    const { hub, clock, silentEpochs } = this.options;
    for (const study of hub.studies()) {
      const { document: { epoch, participation }, state } = study;
      if (state !== 'open' || !('everyMs' in epoch) || !this.#leads(study)) continue;
      const told = this.#toldOf(study);
      // The operator knows. Silence counts from the end of the pause.
      if (hub.isPaused?.(study.studyId) === true) told.lastMs = clock.nowMs();
      const isSilent = clock.nowMs() - told.lastMs > (silentEpochs + 1) * epoch.everyMs;
      if (isSilent && !told.isSilent) {
        this.#tell('no-release', study, `has released nothing for ${silentEpochs} epochs.`,
          participation === 'public'
            ? 'Epochs without contributors have no release. If people did contribute, read the '
              + 'server\'s log.' : 'Read the server\'s log for this study.');
      }
      told.isSilent = isSilent;
    }
  }

  /** One log after the other, a page at a time. */
  async #verifyAll(): Promise<void> {
    const { hub, logger } = this.options;
    for (const view of hub.studies()) {
      if (this.#isClosed) return;
      if (!this.#leads(view)) continue;
      try {
        await this.#verify(view);
      } catch (error) {
        // The store is away, or the server stops. The next time comes.
        logger.warn({ study: view.name, err: error }, 'the release log could not be verified');
      }
    }
  }

  async #verify(view: StudyView): Promise<void> {
    const { hub } = this.options;
    const told = this.#toldOf(view);
    const report = await verifyReleaseLog(linesOfLog({ hub, view, from: 0, page }),
      { signing, serverKey: hub.serverKey });
    const { firstFault } = report;
    if (firstFault !== null && !told.isFalse) {
      this.#tell('log-not-verified', view,
        `has a release log that does not verify: ${ended(firstFault.text)}`,
        'Stop publishing it. Compare the database with a backup: "keelson verify" says the same of '
        + 'a copy.');
    }
    told.isFalse = firstFault !== null;
  }

  #leads({ name }: StudyView): boolean {
    const node = this.options.hub.node?.() ?? null;
    return node === null || node.leads.includes(name);
  }

  #toldOf({ studyId }: StudyView): Told {
    let told = this.#told.get(studyId);
    if (told === undefined) {
      told = {
        refused: new Map(), isNearlySpent: false, isSilent: false, isFalse: false,
        lastMs: this.options.clock.nowMs(),
      };
      this.#told.set(studyId, told);
    }
    return told;
  }

  #tell(kind: AlertKind, { name, studyId }: StudyView, text: string, remedy: string): void {
    const { clock, logger } = this.options;
    const alert: Alert = {
      kind, atMs: clock.nowMs(), study: name, studyId, text: `${name} ${text}`, remedy,
    };
    logger.warn({ kind, study: name, remedy }, `alert: ${alert.text}`);
    for (const outbox of this.#outboxes) outbox.add(alert);
  }

  #every(ms: number, action: () => void): void {
    const { clock } = this.options;
    const at = this.#cancels.length;
    const again = (): void => {
      this.#cancels[at] = clock.after(ms, () => {
        action();
        again();
      });
    };
    again();
  }
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
