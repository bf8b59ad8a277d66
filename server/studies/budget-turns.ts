/** A study that waits for a budget. */
export interface Waiting {
  /**
   * Called when the study is first in line, so it may ask for an epoch.
   * @param atMs Unix time at which the study before it opened its epoch, or left.
   */
  onTurn(atMs: number): void;
}

/**
 * Turns of studies that share a budget which renews. A study whose epoch did not fit waits in line,
 * and no study asks for an epoch while another waits before it.
 *
 * Claim 1: every study in line gets its epoch. While the first one waits, no other study of the
 * budget reserves anything. So what counts in the window only falls. Only studies whose epoch fits
 * the cap alone wait, so the first one fits at the latest one window after the last open epoch was
 * charged. Claim 2: the check of the budget is the same as without turns. Turns only decide who
 * asks when. Claim 3: turns depend on no rows. A study joins the line when its epoch is declined or
 * another study waits. It leaves the line when its epoch opens or its operator ends it. All of
 * these are public events.
 *
 * The line is not stored. After a restart, studies ask in the order in which they are configured.
 */
export class BudgetTurns {
  readonly #lines = new Map<string, Waiting[]>();

  /** True if no other study waits before this one. */
  isFirst(budget: string, study: Waiting): boolean {
    const line = this.#lines.get(budget) ?? [];
    return line.length === 0 || line[0] === study;
  }

  /** Joins the line at its end. A study that is in the line keeps its place. */
  join(budget: string, study: Waiting): void {
    const line = this.#lines.get(budget) ?? [];
    this.#lines.set(budget, line);
    if (!line.includes(study)) line.push(study);
  }

  /** Leaves the line. If the study was first, the next one may ask. */
  leave(budget: string, study: Waiting, atMs: number): void {
    const line = this.#lines.get(budget) ?? [];
    const place = line.indexOf(study);
    if (place < 0) return;
    line.splice(place, 1);
    if (line.length === 0) this.#lines.delete(budget);
    else if (place === 0) line[0]!.onTurn(atMs);
  }
}
