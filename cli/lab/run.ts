import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { subscribe } from '../../client/index.js';
import {
  createFleet, findAttack, isProtocolAttack, type Fleet, type FleetOptions, type Tactics,
} from '../../simulation/index.js';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { createLogger } from '../../server/base/logger.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { utf8 } from '../../src/base/bytes.js';
import { issueEnrolment } from '../../src/signing/index.js';
import type { EpochPeople } from './baselines.js';
import { answerOf, Rounds, type Round } from './rounds.js';
import type { Director, Setting } from './setting.js';
import { peopleOf, type LabFacts } from './studies.js';

export interface LabOptions extends LabFacts {
  readonly studies: readonly StudyDefinition[];
  readonly director: Director;
  /** Rounds to play, without repeated ones. Infinity: until `signal`. */
  readonly rounds: number;
  /** The same seed gives the same people, keys and attacks. Noise is always fresh. */
  readonly seed: string;
  readonly host: string;
  readonly port: number;
  /** Origins of other pages that may follow the releases. */
  readonly allowedOrigins?: readonly string[];
  readonly signal: AbortSignal;
}

export interface LabReport {
  started(aggregator: Aggregator): void;
  /**
   * @param fleet is connecting; `fleet.ready()` resolves when it is connected. The first round
   *   begins when this resolves.
   */
  gathering(fleet: Fleet): Promise<void>;
  round(round: Round): void;
  /**
   * Too many rows were late because this machine is slow: the round is repeated and not reported.
   */
  spoiled?(setting: Setting, honest: number, expected: number): void;
}

/** Tokens of the lab end after any run. */
const tokensEndMs = Date.UTC(2100, 0, 1);

const keyOf = ({ attack, corruption, strength }: Setting): string =>
  `${attack} ${corruption} ${strength ?? ''}`;

/**
 * A round with a smaller share of its honest people shows how slow the machine is, not how good the
 * estimators are.
 */
const honestShareLeast = 0.8;

/**
 * A lab in one process: a real aggregator on a temporary data folder, people over real sockets, and
 * a verifying subscriber per study. The private answers are those that the server released. The lab
 * computes everything else from the rows of its own people.
 * @throws an error of the aggregator's start, or the error that ended a contributor's session
 *   before it was connected.
 */
export async function runLab(options: LabOptions, report: LabReport): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-lab-'));
  try {
    const aggregator = await createAggregator({
      dataDirectory: folder,
      studies: options.studies,
      strict: true,
      host: options.host,
      port: options.port,
      held: true,
      logger: createLogger({
        level: 'error', destination: { write: (line) => void process.stderr.write(line) },
      }),
      ...(options.allowedOrigins !== undefined
        && { network: { allowedOrigins: options.allowedOrigins } }),
    });
    try {
      report.started(aggregator);
      await new Laboratory(options, aggregator, report).play();
    } finally {
      await aggregator.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Played {
  readonly index: number;
  readonly setting: Setting;
  readonly people: EpochPeople;
}

class Laboratory {
  private readonly stop = new AbortController();
  private readonly names: readonly string[];
  /** By study, then epoch. */
  private readonly played = new Map<string, Map<bigint, Played>>();
  private readonly rounds: Rounds;
  private done = 0;
  private repeats = 0;
  /**
   * Plays attacks with many keys or broken frames. The hostile part of the main fleet sends nothing
   * meanwhile.
   */
  private abusers: { readonly key: string; readonly fleet: Fleet } | null = null;
  /**
   * Keys that the server refused, by setting, for settings that are played from a separate fleet.
   */
  private readonly turnedAway = new Map<string, number>();

  constructor(
    private readonly options: LabOptions,
    private readonly aggregator: Aggregator,
    private readonly report: LabReport,
  ) {
    this.names = options.studies.map(({ document }) => document.study);
    for (const name of this.names) this.played.set(name, new Map());
    this.rounds = new Rounds(this.names, (round) => {
      if (!this.isPlayedAgain(round.setting, round.honestFewest)) {
        report.round({ ...round, ...this.refusedIn(round.setting) });
      }
      this.over();
    });
    options.signal.addEventListener('abort', () => this.stop.abort(), { once: true });
    if (options.signal.aborted) this.stop.abort();
  }

  async play(): Promise<void> {
    const fleet = this.people();
    try {
      await Promise.race([
        Promise.all([
          this.gather(fleet), ...this.options.studies.map((study) => this.follow(study)),
        ]),
        this.aggregator.failed,
      ]);
    } finally {
      this.stop.abort();
      fleet.abort();
      this.abusers?.fleet.abort();
    }
  }

  private people(): Fleet {
    const { data, contributors } = this.options;
    const seed = this.seedOf('people');
    return createFleet({
      ...this.connection(),
      ...this.enrolling(() => true),
      contributors,
      seed,
      rows: data.source(contributors, seed),
      spread: Object.fromEntries(this.names.map((name) => [name, data.spread])),
      tactics: (study, epoch) => this.tacticsOf(study, epoch),
      onAccepted: (study, epoch, reduced, isHostile, sent) =>
        this.played.get(study)?.get(epoch)?.people.add(reduced, isHostile, sent),
    });
  }

  private connection() {
    return {
      url: this.aggregator.address.replace(/^http/, 'ws'),
      studies: this.names,
      serverKey: this.aggregator.serverKey,
      signal: this.stop.signal,
    };
  }

  private seedOf(what: string): Uint8Array {
    return signing.sha512(utf8(`keelson lab ${this.options.seed} ${what}`)).slice(0, 32);
  }

  private tacticsOf(study: string, epoch: bigint): Tactics {
    const played = this.played.get(study)!;
    const index = played.size;
    const setting = this.options.director.settingOf(index);
    if (setting === null) return { corruption: 0, attack: 'shift' };
    played.set(epoch, { index, setting, people: this.peopleOf(study) });
    // If keys are enrolled, the keys of a Sybil cannot be those of the main fleet, because each of
    // those has a token.
    const isApart = isProtocolAttack(findAttack(setting.attack))
      || (this.isSybil(setting) && this.options.issuer !== undefined);
    this.letAbuse(isApart ? setting : null);
    return isApart ? { ...setting, attack: 'absent' } : setting;
  }

  private peopleOf(name: string): EpochPeople {
    const { document } = this.options.studies.find(({ document: { study } }) => study === name)!;
    return peopleOf(document, this.options.data);
  }

  private isSybil({ attack }: Setting): boolean {
    return attack === 'sybil';
  }

  /** A token for each contributor of a fleet whom the operator knows as a person. */
  private enrolling(isPerson: (index: number) => boolean): Pick<FleetOptions, 'enrolment'> {
    const { issuer } = this.options;
    if (issuer === undefined) return {};
    const enrolment = { study: null, expiresAtMs: tokensEndMs };
    return {
      enrolment: (key, index) =>
        (isPerson(index) ? issueEnrolment(issuer, key, enrolment, signing) : undefined),
    };
  }

  private refusedIn(setting: Setting): Pick<Round, 'turnedAway'> {
    if (this.options.issuer === undefined) return {};
    this.countTurnedAway();
    return { turnedAway: this.turnedAway.get(keyOf(setting)) ?? 0 };
  }

  private countTurnedAway(): void {
    if (this.abusers === null) return;
    const sessions = Object.values(this.abusers.fleet.statistics().turnedAway)
      .reduce((sum, count) => sum + count, 0);
    this.turnedAway.set(this.abusers.key, Math.round(sessions / this.names.length));
  }

  private letAbuse(setting: Setting | null): void {
    const key = setting === null ? '' : keyOf(setting);
    if (key === (this.abusers?.key ?? '')) return;
    this.countTurnedAway();
    this.abusers?.fleet.abort();
    this.abusers = null;
    const { data, contributors } = this.options;
    const count = Math.round((setting?.corruption ?? 0) * contributors);
    if (setting === null || count === 0) return;
    const seed = this.seedOf('abusers');
    const fleet = createFleet({
      ...this.connection(),
      // All keys of a Sybil belong to one person, who got one token.
      ...this.enrolling((index) => !this.isSybil(setting) || index === 0),
      contributors: count, corruption: 1 - 1 / (4 * count), attack: setting.attack, seed,
      ...(setting.strength !== undefined && { strength: setting.strength }),
      rows: data.source(count, seed),
      spread: Object.fromEntries(this.names.map((name) => [name, data.spread])),
      onAccepted: (study, epoch, reduced, _, sent) =>
        this.played.get(study)?.get(epoch)?.people.add(reduced, true, sent),
    });
    fleet.ready().catch(() => undefined);
    this.abusers = { key, fleet };
  }

  private isPlayedAgain(setting: Setting, honest: number): boolean {
    const { contributors, director } = this.options;
    const expected = contributors - Math.round(contributors * setting.corruption);
    if (honest >= honestShareLeast * expected || director.again?.(setting) !== true) return false;
    this.repeats += 1;
    this.report.spoiled?.(setting, honest, expected);
    return true;
  }

  /** One more round was reported, repeated or lost. */
  private over(): void {
    this.done += 1;
    if (this.done >= this.options.rounds + this.repeats) this.stop.abort();
  }

  /** Waits for the people, then opens the first epochs. An interrupt in between is not an error. */
  private async gather(fleet: Fleet): Promise<void> {
    try {
      await this.report.gathering(fleet);
    } catch (error) {
      if (!this.stop.signal.aborted) throw error;
      return;
    }
    const { hub } = this.aggregator;
    await Promise.all(hub.studies().map(({ studyId }) => hub.startStudy(studyId)));
  }

  private async follow(definition: StudyDefinition): Promise<void> {
    const { study } = definition.document;
    const { address: url, serverKey } = this.aggregator;
    for await (const { release } of subscribe({
      url, study, serverKey, signal: this.stop.signal,
    })) {
      const played = this.played.get(study)!.get(release.epoch);
      const roundBaselines = played?.people.compute() ?? null;
      if (played === undefined) continue;
      if (roundBaselines === null) {
        // Everybody was late for this study's epoch. Waiting for it would never end.
        if (this.rounds.lose(played.index)) {
          this.isPlayedAgain(played.setting, 0);
          this.over();
        }
        continue;
      }
      const { index, setting } = played;
      const answer = answerOf(definition, release, roundBaselines, setting);
      this.rounds.add(study, index, { setting, roundBaselines, answer });
      // The rows are no longer needed. The entry stays, because rounds are counted by it.
      this.played.get(study)!.set(release.epoch, { index, setting, people: this.peopleOf(study) });
    }
  }
}
