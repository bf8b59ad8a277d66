import { InvalidParameterError, WireError } from '../../src/base/errors.js';

/**
 * Counts the rows of this contributor in the newest epoch, so that rows that the server would
 * refuse are not sent. The count is lost with the process; the server enforces the limit.
 */
export class ContributionRoom {
  private epoch = 0n;
  private rows = 0;
  private complete = false;

  /**
   * Reserves room for rows.
   * @throws InvalidParameterError when the rows never fit; WireError('contribution-full') when they
   * do not fit this epoch.
   */
  take(epoch: bigint, rows: number, last: boolean, rowsMax: number): void {
    if (rows > rowsMax) {
      throw new InvalidParameterError(
        `${rows} rows are more than the ${rowsMax} that this study takes from one contributor and `
          + 'epoch: send fewer',
        { rows, rowsMax },
      );
    }
    const used = epoch === this.epoch ? this.rows : 0;
    const complete = epoch === this.epoch && this.complete;
    if (complete || used + rows > rowsMax) {
      const left = complete ? 'it is complete' : `${rowsMax - used} of ${rowsMax} rows are left`;
      const text =
        `the contribution to epoch ${epoch} has no room (${left}): wait for the next epoch`;
      throw new WireError('contribution-full', text, { details: { epoch, rowsMax } });
    }
    this.epoch = epoch;
    this.rows = used + rows;
    this.complete = last || this.rows === rowsMax;
  }
}
