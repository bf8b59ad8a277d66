import { cpSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../simulation/chance.js';
import type { LiveCommand, Served, Stage } from '../live-command.js';
import { root } from '../sources.js';
import { columns, studyNames, writeStudies } from './crash-studies.js';
import { countsByForm, everyForm, Load } from './load.js';
import { plants } from './plants.js';
import { judgeFolder, type Verdict } from './verdict.js';

export interface KillOptions {
  readonly kills: number;
  /** Contributors, over all studies. */
  readonly people: number;
  readonly seed: number;
  readonly log?: (text: string) => void;
}

export interface KillReport {
  readonly figures: Readonly<Record<string, number>>;
  /** Promises that were not kept, in words. */
  readonly broken: readonly string[];
}

const hourMs = 3_600_000;

/** A server under load that is killed, again and again. */
export class KillRun {
  readonly #chance: Chance;
  readonly #words: readonly string[];
  readonly #broken: string[] = [];
  readonly #counts = {
    starting: 0, serving: 0, keyChanges: 0, keyChangesCut: 0, clockJumps: 0, clocksRefused: 0,
  };
  #loads: readonly Load[] = [];
  #served!: { readonly command: LiveCommand; listening: boolean };
  #port = 0;
  /** How wrong the server's clock is at its next start. */
  #shiftMs = 0;
  #clockConfirmed = false;

  constructor(private readonly stage: Stage, private readonly options: KillOptions) {
    this.#chance = Chance.of(options.seed);
    this.#words = writeStudies(stage);
  }

  async run(): Promise<KillReport> {
    const { kills, log } = this.options;
    await this.#begin();
    // Once, towards the end: what a clock that is hours ahead renews early is then no fault.
    const aheadAt = Math.ceil(0.8 * kills);
    let verdict: Verdict | undefined;
    for (let kill = 1; kill <= kills && this.#broken.length === 0; kill++) {
      await this.#strike();
      if (kill % 10 === 0 || kill === kills) {
        verdict = await this.#judge();
        log?.(`${kill} kills: ${this.#acknowledged().length} acknowledged, `
          + `${JSON.stringify(shortOf(verdict))}`);
      }
      await this.#changeKey();
      if (kill === aheadAt) await this.#startByClockAhead();
      this.#moveClock();
      this.#start();
    }
    await this.#listening();
    await Promise.all([pause(2_500), everyForm(this.#loads)]);
    await Promise.all(this.#loads.map((load) => load.end()));
    const { status, stderr } = await this.#served.command.interrupt();
    if (status !== 0) {
      this.#broken.push(`the last server ended with ${status}: ${stderr.slice(-2_000)}`);
    }
    verdict = await this.#judge();
    return { figures: this.#figures(verdict), broken: this.#broken };
  }

  /**
   * After `run`: damages copies of the folder on purpose. @returns the damages that are not found.
   */
  async missedPlants(): Promise<readonly string[]> {
    const missed: string[] = [];
    for (const [name, plant] of Object.entries(plants)) {
      const copy = this.#copy();
      plant(copy);
      const found = await this.#verdictOf(copy).then(faultsOf, () => ['it cannot be read']);
      if (found.length === 0) missed.push(name);
    }
    return missed;
  }

  async #begin(): Promise<void> {
    const first: Served = await this.stage.serve(this.#words);
    this.#port = first.port;
    this.#served = { command: first.command, listening: true };
    const people = Math.ceil(this.options.people / studyNames.length);
    this.#loads = studyNames.map((study) =>
      new Load({ ...first, study, people, columns, pauseMs: 20, withdraws: 0.1 }));
  }

  /** A fifth of the kills come before the server listens. */
  async #strike(): Promise<void> {
    const chance = this.#chance;
    if (!this.#served.listening && chance.happens(0.8)) await this.#listening();
    const { listening, command } = this.#served;
    await pause(listening ? chance.between(200, 2_000) : chance.between(0, 1_500));
    this.#counts[this.#served.listening ? 'serving' : 'starting'] += 1;
    await command.kill();
  }

  #start(flags: readonly string[] = []): LiveCommand {
    const place = ['--data', this.stage.path('data'), '--port', String(this.#port)];
    const environment = {
      KEELSON_TEST_CLOCK_SHIFT_MS: String(Math.round(this.#shiftMs)),
      NODE_OPTIONS: `--import ${root}test/support/children/shifted-clock.js`,
    };
    const words = ['serve', ...this.#words, ...place, '--log-level', 'warn', '--json', ...flags];
    const command = this.stage.start(words, { environment });
    const served = { command, listening: false };
    this.#served = served;
    command.line(({ type }) => type === 'listening')
      .then(() => { served.listening = true; }, () => undefined);
    return command;
  }

  /** @throws with what the server said when it ends instead: no start may fail. */
  async #listening(): Promise<void> {
    await this.#served.command.line(({ type }) => type === 'listening');
    this.#served.listening = true;
  }

  /** Some starts come after a change of the server's key, whole or cut off by a kill. */
  async #changeKey(): Promise<void> {
    if (!this.#chance.happens(0.2)) return;
    const command =
      this.stage.start(['keys', 'rotate', '--data', this.stage.path('data'), '--json']);
    if (this.#chance.happens(0.5)) {
      await pause(this.#chance.between(100, 1_500));
      await command.kill();
    }
    const { status, stderr } = await command.ended;
    if (status === 0) this.#counts.keyChanges += 1;
    else if (status === null) this.#counts.keyChangesCut += 1;
    else this.#broken.push(`a change of the key failed: ${stderr}`);
  }

  #moveClock(): void {
    if (!this.#chance.happens(0.3)) return;
    this.#counts.clockJumps += 1;
    this.#shiftMs += this.#chance.between(-5_000, 10_000);
  }

  /**
   * A start by a clock that is hours ahead, and one with it set right: refused, until the operator
   * confirms it.
   */
  async #startByClockAhead(): Promise<void> {
    const rightMs = this.#shiftMs;
    this.#shiftMs += 3 * hourMs;
    this.#start();
    await this.#listening();
    await pause(2_500);
    await this.#served.command.kill();
    this.#shiftMs = rightMs;
    const { status, stderr } = await this.#start().ended;
    if (status !== 2 || !stderr.includes('--confirm-clock')) {
      this.#broken.push(`a clock hours behind the folder was not refused: ${status} ${stderr}`);
    }
    this.#counts.clocksRefused += 1;
    this.#clockConfirmed = true;
    const time = `${new Date(Date.now() + rightMs).toISOString().slice(0, 19)}Z`;
    this.#start(['--confirm-clock', time]);
    await this.#listening();
    await this.#served.command.kill();
  }

  /**
   * Nobody is told anything while no server runs, so what is acknowledged now is what the folder
   * must hold.
   */
  async #judge(): Promise<Verdict> {
    const verdict = await this.#verdictOf(this.#copy());
    this.#broken
      .push(...faultsOf(verdict), ...this.#loads.flatMap(({ failures }) => failures.map(String)));
    return verdict;
  }

  #copy(): string {
    const copy = this.stage.path('copy');
    rmSync(copy, { recursive: true, force: true });
    cpSync(this.stage.path('data'), copy, { recursive: true });
    return copy;
  }

  #verdictOf(folder: string): Promise<Verdict> {
    const published = new Map(this.#loads.flatMap((load) => [...load.published]));
    return judgeFolder(folder, this.#acknowledged(), published, {
      withdrawals: {
        withdrawn: this.#loads.flatMap(({ withdrawn }) => withdrawn),
        regretful: new Set(this.#loads.flatMap(({ regretful }) => [...regretful])),
      },
      clockConfirmed: this.#clockConfirmed,
    });
  }

  #acknowledged() {
    return this.#loads.flatMap(({ acknowledged }) => acknowledged);
  }

  #figures(verdict: Verdict): Record<string, number> {
    const total = (of: (load: Load) => number): number =>
      this.#loads.reduce((sum, load) => sum + of(load), 0);
    return {
      ...shortOf(verdict), acknowledged: this.#acknowledged().length,
      ...countsByForm(this.#acknowledged()), refused: total(({ refused }) => refused),
      withdrawn: total(({ withdrawn }) => withdrawn.length), ...this.#counts,
    };
  }
}

function faultsOf({ lost, twice, faults }: Verdict): string[] {
  return [
    ...lost.map((name) => `lost: ${name}`), ...twice.map((name) => `twice: ${name}`), ...faults,
  ];
}

function shortOf({ lost, twice, faults, ...rest }: Verdict): Record<string, number> {
  return { ...rest, lost: lost.length, twice: twice.length, faults: faults.length };
}
