/** Durations of the last commits, in a ring. Quantiles are computed only when they are read. */
export class Latencies {
  readonly #seconds = new Float64Array(1_024);
  #commits = 0;
  #secondsTotal = 0;
  #batches = 0;
  #retries = 0;

  /** @param tries how often the list was judged, at least 1. */
  note(seconds: number, batches: number, tries = 1): void {
    this.#seconds[this.#commits % this.#seconds.length] = seconds;
    this.#commits += 1;
    this.#secondsTotal += seconds;
    this.#batches += batches;
    this.#retries += tries - 1;
  }

  summary(): {
    readonly commits: number; readonly batches: number; readonly retries: number;
    readonly commitSecondsMedian: number; readonly commitSeconds99: number;
    readonly commitSecondsTotal: number;
  } {
    const recent = this.#seconds.slice(0, Math.min(this.#commits, this.#seconds.length)).sort();
    const quantile = (share: number): number =>
      recent[Math.min(recent.length - 1, Math.floor(share * recent.length))] ?? 0;
    return {
      commits: this.#commits, batches: this.#batches, retries: this.#retries,
      commitSecondsMedian: quantile(0.5), commitSeconds99: quantile(0.99),
      commitSecondsTotal: this.#secondsTotal,
    };
  }
}
