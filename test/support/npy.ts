/** Writes .npy bytes for tests, the way numpy.save does. */
export function npyBytes(
  rows: readonly (readonly number[])[],
  options: { version?: 1 | 2 | 3; type?: string; fortran?: boolean; shape?: string } = {},
): Buffer {
  const type = options.type ?? '<f8';
  const shape = options.shape ?? `(${rows.length}, ${rows[0]?.length ?? 0})`;
  const version = options.version ?? 1;
  const prefix = version === 1 ? 10 : 12;
  const fields = `{'descr': '${type}', 'fortran_order': `
    + `${options.fortran === true ? 'True' : 'False'}, 'shape': ${shape}, }`;
  const header =
    `${fields.padEnd(Math.ceil((prefix + fields.length + 1) / 64) * 64 - prefix - 1)}\n`;
  const start = Buffer.alloc(prefix);
  Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]).copy(start);
  if (version === 1) start.writeUInt16LE(header.length, 8);
  else start.writeUInt32LE(header.length, 8);
  const itemBytes = type.endsWith('4') ? 4 : 8;
  const data = Buffer.alloc(itemBytes * rows.flat().length);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  rows.flat().forEach((value, index) => {
    if (itemBytes === 4) view.setFloat32(4 * index, value, !type.startsWith('>'));
    else view.setFloat64(8 * index, value, !type.startsWith('>'));
  });
  return Buffer.concat([start, Buffer.from(header), data]);
}
