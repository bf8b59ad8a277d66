import {
  attackNames, findAttack, isProtocolAttack,
} from '../../simulation/index.js';
import type { Aggregator } from '../../server/aggregator.js';
import { toHex } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { attacksOn, labData, type LabData } from './data.js';
import type { Round } from './rounds.js';
import { runLab, type LabOptions } from './run.js';
import { LabController, type Setting } from './setting.js';
import { labNameOf, labStudies, usualEstimators, type LabFacts } from './studies.js';
import { keyedStudies, keyedStudyOf, regions, type KeyedStudy } from './keyed.js';

/** A person's choices for a whole run. A change starts a new run with an empty ledger. */
export interface LabConfig {
  readonly data: string;
  readonly estimators: readonly string[];
  readonly contributors: number;
  /** The epsilon of each release. */
  readonly epsilon: number;
}

/** The state that the page shows, besides the rounds. */
export interface LabState {
  readonly phase: 'connecting' | 'playing' | 'stopped';
  /** Number of connected sessions, and how many there will be. */
  readonly connected: number;
  readonly sessions: number;
  readonly scene: LabConfig;
  /** In force from the next round on. */
  readonly setting: Setting;
  /** The round in progress is the last one until a person goes on. */
  readonly isPaused: boolean;
  /** Starts a laboratory with the same scene and setting. */
  readonly command: string;
  readonly address: string | null;
  readonly serverKey: string | null;
  readonly studies: readonly StudyFacts[];
}

/** One estimator's study. */
export interface StudyFacts {
  readonly study: string;
  readonly estimator: string;
  readonly title: string;
  /** The unit of this study's errors. */
  readonly unit: string;
  /** Promised error by corruption, from public numbers; null beyond the promise. */
  readonly promised: readonly (readonly [share: number, error: number | null])[];
}

export type LabNews =
  | { readonly kind: 'state'; readonly state: LabState }
  | { readonly kind: 'round'; readonly round: Round };

/** The facts that are chosen for a whole run. */
type Chosen = 'data' | 'contributors' | 'epsilon';

export type LabSessionOptions = Omit<LabFacts, Chosen>
  & Pick<LabOptions, 'seed' | 'host' | 'port' | 'allowedOrigins' | 'signal'>
  & { readonly scene: LabConfig; readonly setting: Setting };

const roundsKept = 500;
/** The interval between two readings of the number of connected sessions, in milliseconds. */
const gatherPollMs = 200;

/** The lab that a person plays with: one configuration after the other, until it is stopped. */
export class LabSession {
  private readonly controller: LabController;
  private scene: LabConfig;
  private played: Round[] = [];
  private current: LabState;
  private change = new AbortController();
  private aggregator: Aggregator | null = null;
  private readonly listeners = new Set<(news: LabNews) => void>();

  /** @throws the error of `labStudies` if the first configuration cannot be planned. */
  constructor(private readonly options: LabSessionOptions) {
    this.controller = new LabController(options.setting);
    this.scene = options.scene;
    this.current = this.stateOf(this.studies(this.scene));
  }

  get state(): LabState {
    return this.current;
  }

  /** The choices that this configuration allows. */
  programme(): ReturnType<typeof programme> {
    return programme(this.factsOf(this.scene));
  }

  get rounds(): readonly Round[] {
    return this.played;
  }

  listen(listener: (news: LabNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Sets the behaviour of hostile people from the next round on. @throws InvalidParameterError for
   * a setting that cannot be played.
   */
  set(setting: Setting): void {
    this.controller.current = checkedSetting(setting);
    this.update({ setting: this.controller.current });
  }

  /**
   * Lets the round in progress be the last one, goes on, or plays one more round. Does nothing
   * before the people are connected.
   */
  async pace(order: Pace): Promise<void> {
    if (this.aggregator === null || this.current.phase !== 'playing') return;
    const { hub } = this.aggregator;
    const ids = hub.studies().map(({ studyId }) => studyId);
    // A step opens the next epochs, of which none may follow.
    if (order !== 'pause') await Promise.all(ids.map((id) => hub.resumeStudy(id)));
    if (order !== 'go-on') await Promise.all(ids.map((id) => hub.pauseStudy(id)));
    this.update({ isPaused: order !== 'go-on' });
  }

  /**
   * Starts a new run. @throws the error of `labStudies` for a configuration that cannot be planned;
   * the old run then goes on.
   */
  show(asked: LabConfig): void {
    const [before, next] = [dataOf(this.scene.data), dataOf(asked.data)];
    // Estimators of one kind of data mean nothing to the other.
    const scene = before.isKeyed === next.isKeyed ? asked
      : { ...asked, estimators: usualEstimators(next) };
    this.studies(scene);
    this.scene = scene;
    if (before.isKeyed !== next.isKeyed) this.set(usualSetting(next));
    this.change.abort();
  }

  /** Plays until the options' signal aborts. */
  async play(): Promise<void> {
    while (!this.options.signal.aborted) {
      this.change = new AbortController();
      this.played = [];
      const studies = this.studies(this.scene);
      this.current = this.stateOf(studies);
      this.update({});
      await runLab({
        ...this.options,
        ...this.factsOf(this.scene),
        studies,
        director: this.controller,
        rounds: Infinity,
        signal: AbortSignal.any([this.options.signal, this.change.signal]),
      }, {
        started: (aggregator) => this.started(aggregator),
        gathering: async (fleet) => {
          const timer =
            setInterval(() => this.update({ connected: fleet.statistics().ready }), gatherPollMs);
          try {
            await fleet.ready();
          } finally {
            clearInterval(timer);
          }
          this.update({ phase: 'playing', connected: this.current.sessions });
        },
        round: (round) => {
          // Only the newest round is shown with its rows.
          this.played = [...this.played.map((old) => ({ ...old, picture: null })), round]
            .slice(-roundsKept);
          this.tell({ kind: 'round', round });
        },
      });
    }
    this.update({ phase: 'stopped' });
  }

  private started(aggregator: Aggregator): void {
    this.aggregator = aggregator;
    const { address, serverKey } = aggregator;
    this.update({ address, serverKey: toHex(serverKey) });
  }

  private studies(scene: LabConfig) {
    return labStudies(this.factsOf(scene), scene.estimators);
  }

  private factsOf({ data, contributors, epsilon }: LabConfig): LabFacts {
    return { ...this.options, data: dataOf(data), contributors, epsilon };
  }

  private stateOf(studies: ReturnType<typeof labStudies>): LabState {
    const shares = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4];
    return this.withCommand({
      phase: 'connecting',
      connected: 0,
      sessions: this.scene.contributors * studies.length,
      scene: this.scene,
      setting: this.controller.current,
      isPaused: false,
      address: null,
      serverKey: null,
      studies: studies.map(({ document, questions: [{ estimator, plan }] }) => ({
        study: document.study,
        estimator: labNameOf(document),
        title: keyedOf(this.scene, document)?.title ?? estimator.title,
        unit: keyedOf(this.scene, document)?.unit ?? 'spreads',
        promised: shares.map((share) => {
          const { total } = plan.expectedError(share);
          return [share, Number.isFinite(total) ? total : null] as const;
        }),
      })),
    });
  }

  private withCommand(state: Omit<LabState, 'command'>): LabState {
    return { ...state, command: commandOf(state, this.options) };
  }

  private update(change: Partial<LabState>): void {
    this.current = this.withCommand({ ...this.current, ...change });
    this.tell({ kind: 'state', state: this.current });
  }

  private tell(news: LabNews): void {
    for (const listener of this.listeners) listener(news);
  }
}

/** The ways in which the laboratory can go on. */
export const paces = ['pause', 'go-on', 'step'] as const;
export type Pace = (typeof paces)[number];

function commandOf(
  { scene, setting }: Pick<LabState, 'scene' | 'setting'>,
  { epochMs, promise, seed, issuer }: LabSessionOptions,
): string {
  const flags = {
    data: scene.data, estimators: scene.estimators.join(','), contributors: scene.contributors,
    epsilon: scene.epsilon, every: epochMs / 1000, corruption: promise, attack: setting.attack,
    liars: setting.corruption,
    ...(issuer !== undefined && { admission: 'enrolment' }),
    // Another seed would need the rules of somebody's shell.
    ...(/^[\w.-]+$/.test(seed) && { seed }),
  };
  return `keelson lab ${Object.entries(flags)
    .map(([name, value]) => `--${name} ${value}`).join(' ')}`;
}

/** The setting that liars start with unless a person chose one. */
function usualSetting(data: LabData): Setting {
  return { attack: attacksOn(data)[0]!.name, corruption: 0.1 };
}

function keyedOf({ data }: LabConfig, document: StudyDocument): KeyedStudy | undefined {
  return dataOf(data).isKeyed === true ? keyedStudyOf(labNameOf(document)) : undefined;
}

/** Everything that can be chosen, with texts for people. */
function programme(facts: LabFacts) {
  return {
    estimators: facts.data.isKeyed === true
      ? keyedStudies.map(({ name, title, estimator }) =>
        ({ name, title, maturity: 'recommended', assumption: findEstimator(estimator).assumption }))
      : estimators.filter(({ name }) => isMean(name, facts))
        .map(({ name, title, maturity, assumption }) => ({ name, title, maturity, assumption })),
    attacks: attacksOn(facts.data).map((attack) => ({
      name: attack.name,
      title: attack.title,
      defaultStrength: isProtocolAttack(attack) ? null : attack.defaultStrength,
    })),
    data: labData.map(({ name, title, columns, spread, isKeyed }) =>
      ({ name, title, columns: isKeyed === true ? regions : columns, spread })),
  };
}

/** True if the lab can compare an estimator's answers without asking a person for more values. */
function isMean(name: string, facts: LabFacts): boolean {
  try {
    labStudies(facts, [name]);
    return true;
  } catch {
    return false;
  }
}

function dataOf(name: string) {
  const found = labData.find((data) => data.name === name);
  if (found !== undefined) return found;
  throw new InvalidParameterError(`there is no data ${JSON.stringify(name)}: use one of `
    + labData.map((data) => data.name).join(', '));
}

/** @throws InvalidParameterError with the limit. */
function checkedSetting({ attack, corruption, strength }: Setting): Setting {
  if (!attackNames.includes(attack)) findAttack(String(attack));
  if (!(typeof corruption === 'number' && corruption >= 0 && corruption < 0.5)) {
    throw new InvalidParameterError(
      'corruption is the fraction of liars, a number of at least 0 and below 0.5', { corruption },
    );
  }
  if (strength !== undefined
      && !(typeof strength === 'number' && strength >= 0 && strength <= 1e9)) {
    throw new InvalidParameterError('the strength is a number from 0 to 1e9 spreads', { strength });
  }
  return { attack, corruption, ...(strength !== undefined && { strength }) };
}
