import { formatNumber } from '../base/output.js';
import type { Round } from './rounds.js';

/**
 * All rounds with one attack and one fraction of liars. Errors are medians over the rounds, in
 * spreads.
 */
export interface BreakdownRow {
  readonly attack: string;
  readonly corruption: number;
  readonly rounds: number;
  /** Median number of hostile contributions that counted. */
  readonly hostile: number;
  /** Most keys that the server refused in one round. */
  readonly turnedAway: number;
  readonly baselines: Readonly<Record<string, number>>;
  readonly answers: readonly BreakdownAnswer[];
}

export interface BreakdownAnswer {
  readonly estimator: string;
  readonly refused: number;
  /** Null if every round was refused. */
  readonly error: number | null;
  readonly worstError: number | null;
  /** The error that the plan promised beforehand; null beyond its promise. */
  readonly promised: number | null;
  /** True if the median error is at most twice the promised one; null without a promise. */
  readonly keptPromise: boolean | null;
}

/**
 * Groups rounds by attack, in the order of their first round, and within an attack by hostile
 * share.
 */
export function breakdown(rounds: readonly Round[]): readonly BreakdownRow[] {
  const groups = new Map<string, Round[]>();
  for (const round of rounds) {
    const key = `${round.setting.attack} ${round.setting.corruption}`;
    groups.set(key, [...(groups.get(key) ?? []), round]);
  }
  const attacks = [...new Set(rounds.map(({ setting }) => setting.attack))];
  // A repeated round comes after all others.
  const inOrder = [...groups.values()].sort(([left], [right]) =>
    attacks.indexOf(left!.setting.attack) - attacks.indexOf(right!.setting.attack)
    || left!.setting.corruption - right!.setting.corruption);
  return inOrder.map((group) => {
    const { attack, corruption } = group[0]!.setting;
    return {
      attack,
      corruption,
      rounds: group.length,
      hostile: middle(group.map((round) => round.hostile)),
      turnedAway: Math.max(...group.map((round) => round.turnedAway ?? 0)),
      baselines: Object.fromEntries(Object.keys(group[0]!.baselines).map((name) =>
        [name, middle(group.map((round) => round.baselines[name]!))])),
      answers: group[0]!.answers.map((_, i) => answerOf(group, i)),
    };
  });
}

function answerOf(group: readonly Round[], place: number): BreakdownAnswer {
  const answers = group.map((round) => round.answers[place]!);
  const errors = answers.map(({ error }) => error).filter((error) => error !== null);
  const error = errors.length === 0 ? null : middle(errors);
  const { estimator, promised } = answers[0]!;
  const isPromised = Number.isFinite(promised);
  return {
    estimator,
    refused: answers.length - errors.length,
    error,
    worstError: errors.length === 0 ? null : Math.max(...errors),
    promised: isPromised ? promised : null,
    keptPromise: isPromised && error !== null ? error <= 2 * promised : null,
  };
}

/** The lower of the two central values, so that it comes from a real round. */
function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor((values.length - 1) / 2)]!;
}

const shortNames: Readonly<Record<string, string>> = {
  'naive-mean': 'naive', 'coordinate-median': 'median', 'robust-filter': 'filter',
};

/** Head and lines of the table for people: errors, with the promised ones in brackets. */
export function breakdownTable(rows: readonly BreakdownRow[]): {
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
} {
  const isEnrolled = rows.some(({ turnedAway }) => turnedAway > 0);
  const baselines = Object.keys(rows[0]?.baselines ?? {});
  const estimators = rows[0]?.answers.map(({ estimator }) => estimator) ?? [];
  return {
    head: [
      'attack', 'hostile', ...(isEnrolled ? ['refused keys'] : []),
      ...baselines.map((name) => shortNames[name] ?? name), ...estimators,
    ],
    lines: rows.map((row) => [
      row.attack,
      `${formatNumber(100 * row.corruption)} %`,
      ...(isEnrolled ? [String(row.turnedAway)] : []),
      ...baselines.map((name) => short(row.baselines[name]!)),
      ...row.answers.map(({ error, promised, keptPromise }) =>
        (error === null ? 'refused' : short(error))
        + (promised === null ? '' : ` (${short(promised)})`)
        + (keptPromise === false ? ' !' : '')),
    ]),
  };
}

function short(value: number): string {
  return value >= 1000 ? value.toExponential(1) : value.toFixed(value >= 10 ? 0 : 2);
}
