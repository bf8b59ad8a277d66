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
}

/** Follows a list, one setting a round. */
export function scripted(script: readonly Setting[]): Director {
  return { settingOf: (round) => script[round] ?? null };
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
