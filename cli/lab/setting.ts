/** The behaviour of hostile people in an epoch. */
export interface Setting {
  /** In [0, 0.5). */
  readonly corruption: number;
  /** Name of an attack. */
  readonly attack: string;
  /** In spreads; undefined: the attack's default. */
  readonly strength?: number;
}

/** Chooses the setting of each round, the same for all studies. */
export interface Director {
  /**
   * Called once per round and study. Rounds count from 0. Null: no setting is left, and all people
   * are honest.
   */
  settingOf(round: number): Setting | null;
  /**
   * Called after a round with too many late rows because of a slow machine. Returns false if the
   * round counts anyway, as for a director without a list of settings.
   */
  again?(setting: Setting): boolean;
}

/** Plays a list, one setting per round. Repeated rounds come after the list. */
export class Script implements Director {
  readonly #settings: Setting[];
  readonly #roundsMost: number;

  /** @param repeats most rounds that may be repeated; default: the length of the list. */
  constructor(settings: readonly Setting[], repeats = settings.length) {
    this.#settings = [...settings];
    this.#roundsMost = settings.length + repeats;
  }

  settingOf(round: number): Setting | null {
    return this.#settings[round] ?? null;
  }

  /** Rounds to play in all, as far as known. */
  get rounds(): number {
    return this.#settings.length;
  }

  again(setting: Setting): boolean {
    if (this.rounds >= this.#roundsMost) return false;
    this.#settings.push(setting);
    return true;
  }
}

/** Follows a person. The setting at the start of a round holds for that round, in all studies. */
export class LabController implements Director {
  private readonly used = new Map<number, Setting>();

  constructor(public current: Setting) {}

  settingOf(round: number): Setting {
    const found = this.used.get(round) ?? this.current;
    this.used.set(round, found);
    return found;
  }
}
