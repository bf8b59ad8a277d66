/** What the hostile ones do in an epoch. */
export interface Setting {
  /** In [0, 0.5). */
  readonly hostileShare: number;
  /** Name of an attack. */
  readonly attack: string;
  /** In scales; undefined: the attack's own. */
  readonly strength?: number;
}

/** Decides the setting of each round, the same for all studies. */
export interface Director {
  /** Asked once per round and study, with rounds counted from 0. Null: the show is over, all are honest. */
  settingOf(round: number): Setting | null;
  /**
   * Asked of a round that this machine spoiled: too many were late. False: it counts all the same, as for who has
   * nobody's list to follow.
   */
  again?(setting: Setting): boolean;
}

/** Follows a list, one setting a round; what is to be played again comes after the list. */
export class Script implements Director {
  readonly #settings: Setting[];
  readonly #roundsMost: number;

  /** @param repeats rounds that may be added; default: as many as the list has. */
  constructor(settings: readonly Setting[], repeats = settings.length) {
    this.#settings = [...settings];
    this.#roundsMost = settings.length + repeats;
  }

  settingOf(round: number): Setting | null {
    return this.#settings[round] ?? null;
  }

  /** Rounds to play in all, as far as is known. */
  get rounds(): number {
    return this.#settings.length;
  }

  again(setting: Setting): boolean {
    if (this.rounds >= this.#roundsMost) return false;
    this.#settings.push(setting);
    return true;
  }
}

/** Follows a person: what is set when a round begins holds for that round, for all studies. */
export class Hands implements Director {
  private readonly used = new Map<number, Setting>();

  constructor(public current: Setting) {}

  settingOf(round: number): Setting {
    const found = this.used.get(round) ?? this.current;
    this.used.set(round, found);
    return found;
  }
}
