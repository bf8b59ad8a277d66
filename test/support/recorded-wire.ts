import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Passes TCP connections on to a port of this machine, and keeps all bytes of both directions. */
export class RecordedWire {
  readonly #directions: Buffer[][] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [[near, far], [far, near]] as const) {
        const chunks: Buffer[] = [];
        this.#directions.push(chunks);
        this.#sockets.add(from);
        from.on('data', (chunk: Buffer) => { chunks.push(chunk); to.write(chunk); });
        from.on('end', () => to.end());
        // Whoever is behind the other socket sees that this one is lost.
        from.on('error', () => to.destroy());
        from.on('close', () => { this.#sockets.delete(from); to.destroy(); });
      }
    });
  }

  static async to(port: number): Promise<RecordedWire> {
    const wire = new RecordedWire(port);
    await new Promise<void>((resolve) => { wire.#server.listen(0, '127.0.0.1', resolve); });
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * What went each way of each connection so far: the bytes, and after them what WebSocket frames
   * in them carried, without the masks.
   */
  get ways(): readonly Buffer[] {
    return this.#directions.map((chunks) => {
      const bytes = Buffer.concat(chunks);
      return Buffer.concat([bytes, carriedBy(bytes)]);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => { this.#server.close(resolve); });
  }
}

/** The payloads of the WebSocket frames after an upgrade. */
function carriedBy(bytes: Buffer): Buffer {
  const payloads: Buffer[] = [];
  const head = bytes.indexOf('\r\n\r\n');
  for (let at = head < 0 ? bytes.length : head + 4; at + 2 <= bytes.length;) {
    const second = bytes[at + 1]!;
    const short = second & 0x7f;
    at += 2;
    // A length of 8 bytes is below 2^32 here.
    const length = short < 126 ? short
      : short === 126 ? bytes.readUInt16BE(at) : bytes.readUInt32BE(at + 4);
    at += short < 126 ? 0 : short === 126 ? 2 : 8;
    const mask = second < 0x80 ? null : bytes.subarray(at, at + 4);
    at += mask === null ? 0 : 4;
    const payload = Buffer.from(bytes.subarray(at, at + length));
    if (mask !== null) payload.forEach((byte, i) => { payload[i] = byte ^ mask[i % 4]!; });
    payloads.push(payload);
    at += length;
  }
  return Buffer.concat(payloads);
}
