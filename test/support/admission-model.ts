import { protocolLimits } from '../../src/base/limits.js';
import type { AdmissionRequest } from '../../server/store/contract.js';

/**
 * Admission as the contract's comment reads, with unbounded memory and no cleverness: the store is
 * compared with it. One study, its budget ample, nothing purged.
 */
export class AdmissionModel {
  state: 'open' | 'exhausted' | 'ended' = 'open';
  open: { epoch: bigint; rowsMax: number } | null = null;
  /** The newest epoch, open or not. */
  newest: { epoch: bigint; late: 'next' | 'drop' } = { epoch: 0n, late: 'next' };
  readonly accepted: {
    contributor: string; sequence: bigint; epoch: bigint; digest: string;
  }[] = [];
  readonly #settled = new Map<string, { code: string | null; epoch: bigint; digest: string }>();
  readonly #contributions = new Map<string, { rows: number; complete: boolean }>();
  readonly #high = new Map<string, bigint>();

  admit(batch: AdmissionRequest): string {
    const digest = Buffer.from(batch.digest).toString('hex');
    const contiguous = this.contiguous(batch.contributor);
    const stopped = {
      open: null, ended: 'rejected:study-ended', exhausted: 'rejected:budget-exhausted',
    }[this.state];
    if (batch.sequence > contiguous + BigInt(protocolLimits.sequenceWindow)) {
      return stopped ?? 'rejected:sequence-too-far';
    }
    const earlier = this.#settled.get(`${batch.contributor}/${batch.sequence}`);
    if (earlier !== undefined) {
      const high = this.#high.get(batch.contributor)!;
      if (batch.sequence <= high - BigInt(protocolLimits.sequenceWindow)) return 'duplicate';
      if (earlier.digest !== digest) return 'rejected:mutated';
      return earlier.code === null ? `duplicate@${earlier.epoch}` : `rejected:${earlier.code}`;
    }
    if (stopped !== null) return stopped;
    const code = this.#judge(batch);
    if (code === 'epoch-not-open') return `rejected:${code}`;
    this.#settled.set(
      `${batch.contributor}/${batch.sequence}`, { code, epoch: this.open?.epoch ?? 0n, digest },
    );
    const high = this.#high.get(batch.contributor) ?? 0n;
    this.#high.set(batch.contributor, batch.sequence > high ? batch.sequence : high);
    if (code !== null) return `rejected:${code}`;
    const epoch = this.open!.epoch;
    this.accepted.push({ contributor: batch.contributor, sequence: batch.sequence, epoch, digest });
    const name = `${epoch}/${batch.contributor}`;
    const rows = (this.#contributions.get(name)?.rows ?? 0) + batch.rows;
    const complete = batch.last || rows === this.open!.rowsMax;
    this.#contributions.set(name, { rows, complete });
    return `accepted@${epoch}${complete ? '!' : ''}`;
  }

  #judge(batch: AdmissionRequest): string | null {
    if (batch.rejectAs !== undefined) return batch.rejectAs;
    const oldest = this.open === null ? this.newest.epoch + 1n : this.open.epoch;
    if (batch.epoch < oldest - (this.newest.late === 'next' ? 1n : 0n)) return 'stale-epoch';
    if (this.open === null || batch.epoch > this.open.epoch) return 'epoch-not-open';
    const contribution = this.#contributions.get(`${this.open.epoch}/${batch.contributor}`);
    const { rows, complete } = contribution ?? { rows: 0, complete: false };
    return complete || rows + batch.rows > this.open.rowsMax ? 'contribution-full' : null;
  }

  contiguous(contributor: string): bigint {
    let sequence = 0n;
    while (this.#settled.has(`${contributor}/${sequence + 1n}`)) sequence += 1n;
    return sequence;
  }

  next(contributor: string): bigint {
    return (this.#high.get(contributor) ?? 0n) + 1n;
  }

  holes(contributor: string): bigint[] {
    const holes: bigint[] = [];
    for (let sequence = 1n; sequence < this.next(contributor); sequence++) {
      if (!this.#settled.has(`${contributor}/${sequence}`)) holes.push(sequence);
    }
    return holes;
  }
}
