import { keelson as read } from './generated/contributor-reader.js';
import { keelson as sent } from './generated/contributor-writer.js';
import { ownSized, present, sized, studyIdBytes, uint32 } from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import type { BatchBody } from './messages.js';
import { malformed, readStrictly } from './reader.js';
import { written } from './writer.js';

const dataTypes: readonly (BatchBody['dataType'] | undefined)[] = [undefined, 'float32', 'float64'];

/**
 * In the server's messages epoch 0 means no epoch. In a batch it would be late for the first epoch.
 */
function refuseZero({ sequence, epoch }: Pick<BatchBody, 'sequence' | 'epoch'>): void {
  if (sequence === 0n || epoch === 0n) throw malformed('sequence and epoch begin at 1');
}

/**
 * The bytes that a contributor signs. @throws WireError('malformed') for a body that no server
 * would accept.
 */
export function encodeBatchBody(body: BatchBody): Uint8Array {
  refuseZero(body);
  return written(sent.v1.BatchBody.encode({
    studyId: sized(body.studyId, studyIdBytes, 'study id'),
    sequence: toLong(body.sequence, 'sequence'),
    epoch: toLong(body.epoch, 'epoch'),
    last: body.last,
    rows: uint32(body.rows, 'rows'),
    columns: uint32(body.columns, 'columns'),
    dataType: dataTypes.indexOf(body.dataType),
    data: body.data,
    cells: [...(body.cells ?? [])],
  }));
}

/** Every column of a batch has an empty field. */
const noBytes = new Uint8Array(0);

/** The generated default for empty bytes is a shared Buffer, or nothing. */
function plain(bytes: Uint8Array | null | undefined): Uint8Array {
  return bytes === null || bytes === undefined || bytes.length === 0 ? noBytes : bytes;
}

/**
 * Reads the signed bytes of a batch. `data` and the bytes of cells are views of
 * `bytes`; the other byte fields are copies. `batchRows` checks them against rows, columns and
 * types, and copies them out. These are two steps so that the server can settle the sequence of a
 * batch with unusable data.
 * @throws WireError('malformed') for any other bytes; never anything else.
 */
export function decodeBatchBody(bytes: Uint8Array): BatchBody {
  return readStrictly(bytes, 'batch body', (reader) => {
    const body = read.v1.BatchBody.decode(reader);
    const sequence = toBigint(body.sequence);
    const epoch = toBigint(body.epoch);
    refuseZero({ sequence, epoch });
    return {
      studyId: ownSized(body.studyId, studyIdBytes, 'study id'),
      sequence,
      epoch,
      last: body.last,
      rows: body.rows,
      columns: body.columns,
      dataType: present(dataTypes[body.dataType], 'data type'),
      data: plain(body.data),
      ...(body.cells.length > 0 && {
        cells: body.cells.map(({ present: bits, numbers, codes, dictionary }) => ({
          numbers: plain(numbers),
          codes: plain(codes),
          ...(bits?.length && { present: plain(bits) }),
          ...(dictionary?.length && { dictionary: plain(dictionary) }),
        })),
      }),
    };
  });
}
