/** Collects one result per study and epoch, and passes complete epochs on in order. */
export class Rounds<Result> {
  private readonly waiting = new Map<bigint, Map<string, Result | null>>();
  private readonly nextOf = new Map<string, bigint>();
  private lost = 0;
  private complete = 0;

  /** @param onRound gets one result per study, in the order of `studies`. */
  constructor(
    private readonly studies: readonly string[],
    private readonly wanted: number,
    private readonly onRound: (results: readonly Result[]) => void,
  ) {}

  /**
   * Epochs in which one of the studies got no row in time. A release has nothing to be compared
   * with then.
   */
  get lostEpochs(): number {
    return this.lost;
  }

  get isDone(): boolean {
    return this.complete >= this.wanted;
  }

  /** Adds the release of an epoch. @param result null if no row of the fleet was in time for it. */
  add(study: string, epoch: bigint, result: Result | null): void {
    const own = this.waiting.get(epoch) ?? new Map<string, Result | null>();
    this.waiting.set(epoch, own.set(study, result));
    this.nextOf.set(study, epoch + 1n);
    // Each study's releases come in order. So the oldest waiting epoch is complete once every study
    // has passed it.
    for (const at of [...this.waiting.keys()].sort((left, right) => (left < right ? -1 : 1))) {
      if (this.studies.some((name) => (this.nextOf.get(name) ?? 0n) <= at)) return;
      this.finish(this.waiting.get(at)!);
      this.waiting.delete(at);
    }
  }

  private finish(own: ReadonlyMap<string, Result | null>): void {
    if (this.isDone) return;
    const results = this.studies.map((study) => own.get(study) ?? null)
      .filter((result) => result !== null);
    if (results.length < this.studies.length) {
      this.lost += 1;
      return;
    }
    this.complete += 1;
    this.onRound(results);
  }
}
