import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { subscribe } from '../../client/index.js';
import { createFleet, findAttack, isProtocolAttack, type Fleet, type Tactics } from '../../client/simulation/index.js';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { createLogger } from '../../server/logger.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { utf8 } from '../../src/base/bytes.js';
import { EpochRows } from './reckoning.js';
import { answerOf, Rounds, type Round } from './rounds.js';
import type { Director, Setting } from './setting.js';
import type { LabFacts } from './studies.js';

export interface LabOptions extends LabFacts {
  readonly studies: readonly StudyDefinition[];
  readonly director: Director;
  /** Rounds to play, without those that are played again; Infinity: until `signal`. */
  readonly rounds: number;
  /** Same seed: same people, keys and attacks. Noise is always fresh. */
  readonly seed: string;
  readonly host: string;
  readonly port: number;
  /** Pages of other origins that may follow the releases. */
  readonly allowedOrigins?: readonly string[];
  readonly signal: AbortSignal;
}

export interface LabReport {
  started(aggregator: Aggregator): void;
  /** @param fleet connects; `fleet.ready()` tells when it has. */
  gathering(fleet: Fleet): Promise<void>;
  round(round: Round): void;
  /** Too many were late, through this machine and not through what was played: it is played again, and not told. */
  spoiled?(setting: Setting, honest: number, expected: number): void;
}

/** A round with a smaller share of its honest people says more about the machine than about the estimators. */
const honestShareLeast = 0.8;

/**
 * A laboratory in one process: a real aggregator on a temporary data folder, people over real sockets, and a verifying
 * subscriber per study. What is private is what the server released; everything else the lab works out from the rows
 * of its own people.
 * @throws what the aggregator throws at its start; what ended a contributor before it was connected.
 */
export async function runLab(options: LabOptions, report: LabReport): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-lab-'));
  try {
    const aggregator = await createAggregator({
      dataDirectory: folder,
      studies: options.studies,
      host: options.host,
      port: options.port,
      logger: createLogger({ level: 'error', destination: { write: (line) => void process.stderr.write(line) } }),
      ...(options.allowedOrigins !== undefined && { network: { allowedOrigins: options.allowedOrigins } }),
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
  readonly rows: EpochRows;
}

class Laboratory {
  private readonly stop = new AbortController();
  private readonly names: readonly string[];
  /** By study, then epoch. */
  private readonly played = new Map<string, Map<bigint, Played>>();
  private readonly rounds: Rounds;
  private done = 0;
  private repeats = 0;
  /** Plays attacks on the protocol, while the hostile part of the main fleet stays away. */
  private abusers: { readonly key: string; readonly fleet: Fleet } | null = null;

  constructor(
    private readonly options: LabOptions,
    private readonly aggregator: Aggregator,
    private readonly report: LabReport,
  ) {
    this.names = options.studies.map(({ document }) => document.study);
    for (const name of this.names) this.played.set(name, new Map());
    this.rounds = new Rounds(this.names, options.data.scale, (round) => {
      if (!this.isPlayedAgain(round.setting, round.honestFewest)) report.round(round);
      this.over();
    });
    options.signal.addEventListener('abort', () => this.stop.abort(), { once: true });
    if (options.signal.aborted) this.stop.abort();
  }

  async play(): Promise<void> {
    const fleet = this.people();
    try {
      await Promise.race([
        Promise.all([this.gather(fleet), ...this.options.studies.map((study) => this.follow(study))]),
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
      contributors,
      seed,
      rows: data.source(contributors, seed),
      scale: Object.fromEntries(this.names.map((name) => [name, data.scale])),
      start: 'ready',
      tactics: (study, epoch) => this.tacticsOf(study, epoch),
      onAccepted: (study, epoch, reduced, isHostile) =>
        this.played.get(study)?.get(epoch)?.rows.add(reduced, isHostile),
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
    if (setting === null) return { hostileShare: 0, attack: 'shift' };
    played.set(epoch, { index, setting, rows: new EpochRows(this.options.data.scale) });
    const isProtocol = isProtocolAttack(findAttack(setting.attack));
    this.letAbuse(isProtocol ? setting : null);
    return isProtocol ? { ...setting, attack: 'absent' } : setting;
  }

  private letAbuse(setting: Setting | null): void {
    const key = setting === null ? '' : `${setting.attack} ${setting.hostileShare}`;
    if (key === (this.abusers?.key ?? '')) return;
    this.abusers?.fleet.abort();
    this.abusers = null;
    const { data, contributors } = this.options;
    const count = Math.round((setting?.hostileShare ?? 0) * contributors);
    if (setting === null || count === 0) return;
    const seed = this.seedOf('abusers');
    const fleet = createFleet({
      ...this.connection(), contributors: count, hostileShare: 1 - 1 / (4 * count), attack: setting.attack, seed,
      rows: data.source(count, seed),
    });
    fleet.ready().catch(() => undefined);
    this.abusers = { key, fleet };
  }

  private isPlayedAgain(setting: Setting, honest: number): boolean {
    const { contributors, director } = this.options;
    const expected = contributors - Math.round(contributors * setting.hostileShare);
    if (honest >= honestShareLeast * expected || director.again?.(setting) !== true) return false;
    this.repeats += 1;
    this.report.spoiled?.(setting, honest, expected);
    return true;
  }

  /** One more round is told, spoiled or lost. */
  private over(): void {
    this.done += 1;
    if (this.done >= this.options.rounds + this.repeats) this.stop.abort();
  }

  /** An interrupt while people connect is no error: the end of the releases tells. */
  private async gather(fleet: Fleet): Promise<void> {
    try {
      await this.report.gathering(fleet);
    } catch (error) {
      if (!this.stop.signal.aborted) throw error;
    }
  }

  private async follow(definition: StudyDefinition): Promise<void> {
    const { study } = definition.document;
    const { address: url, serverKey } = this.aggregator;
    const { scale } = this.options.data;
    for await (const { release } of subscribe({ url, study, serverKey, signal: this.stop.signal })) {
      const played = this.played.get(study)!.get(release.epoch);
      const reckoning = played?.rows.reckon() ?? null;
      if (played === undefined) continue;
      if (reckoning === null) {
        // Everybody was late for this study's epoch. Waiting for it would be waiting for ever.
        if (this.rounds.lose(played.index)) {
          this.isPlayedAgain(played.setting, 0);
          this.over();
        }
        continue;
      }
      const { index, setting } = played;
      const answer = answerOf(definition, release, reckoning, setting, scale);
      this.rounds.add(study, index, { setting, reckoning, answer });
      // The rows are judged: only that the epoch was played is kept, since rounds are counted by it.
      this.played.get(study)!.set(release.epoch, { index, setting, rows: new EpochRows(scale) });
    }
  }
}
