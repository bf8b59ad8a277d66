// Links between three server processes: TCP on this machine, with a delay and a rate that the
// sender adds. Frames have their length in front.
import { createServer, connect } from 'node:net';
import { once } from 'node:events';

/** Listens, reports its port, and returns the sockets that come, by the server that they name. */
export async function portOf(tell) {
  const waiting = new Map();
  const wanted = new Map();
  const server = createServer((socket) => {
    socket.once('readable', () => {
      const [from] = socket.read(1);
      waiting.set(from, socket);
      wanted.get(from)?.(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell(server.address().port);
  return {
    from: (other) => waiting.get(other)
      ?? new Promise((resolve) => wanted.set(other, resolve)),
    close: () => server.close(),
  };
}

/**
 * Joins this server to the two others: the lower one listens.
 * @param options.delay - milliseconds one way; 0: no delay and no limit of the rate.
 * @param options.rate - Mbit/s of all that this server sends.
 * @returns {Promise<{ link: object, close: () => Promise<void> }>} link: a `Link` of src/sealed.
 */
export async function joinedTo(own, ports, listening, { delay, rate }) {
  const inboxes = new Map();
  const sockets = new Map();
  for (const other of [0, 1, 2].filter((server) => server !== own)) {
    let socket;
    if (other > own) socket = await listening.from(other);
    else {
      socket = connect(ports[other], '127.0.0.1');
      await once(socket, 'connect');
      socket.write(Uint8Array.of(own));
    }
    socket.setNoDelay(true);
    sockets.set(other, socket);
    inboxes.set(other, inboxOf(socket));
  }
  const write = (to, message) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(message.length);
    sockets.get(to).write(head);
    sockets.get(to).write(message);
  };
  const line =
    delay === 0 ? { push: write, drained: async () => {} } : delayed(write, delay, rate);
  return {
    link: {
      send: (to, message) => line.push(to, message),
      receive: (from) => inboxes.get(from)(),
    },
    close: async () => {
      listening.close();
      await line.drained();
      for (const socket of sockets.values()) socket.end();
    },
  };
}

/** Writes each message when it would have arrived. */
function delayed(write, delay, rate) {
  const queue = [];
  let free = 0;
  let timer = null;
  let whenEmpty = null;
  const arrive = () => {
    timer = null;
    while (queue.length > 0 && queue[0].at <= performance.now()) {
      const { to, message } = queue.shift();
      write(to, message);
    }
    if (queue.length > 0) timer = setTimeout(arrive, Math.max(0, queue[0].at - performance.now()));
    else whenEmpty?.();
  };
  return {
    push: (to, message) => {
      free = Math.max(free, performance.now()) + message.length / (125 * rate);
      queue.push({ to, message, at: free + delay });
      timer ??= setTimeout(arrive, free + delay - performance.now());
    },
    drained: () => new Promise((resolve) => {
      if (queue.length === 0) resolve();
      else whenEmpty = resolve;
    }),
  };
}

/** Reads frames from a socket. @returns a function that waits for the next one. */
function inboxOf(socket) {
  let held = Buffer.alloc(0);
  let parts = [];
  let size = 0;
  const frames = [];
  let wanted = null;
  const take = () => {
    for (;;) {
      if (size < 4) return;
      if (parts.length > 0 && held.length < 4) join();
      if (size < 4 + held.readUInt32LE(0)) return;
      join();
      const end = 4 + held.readUInt32LE(0);
      frames.push(held.subarray(4, end));
      held = held.subarray(end);
      size -= end;
    }
  };
  const join = () => {
    held = Buffer.concat([held, ...parts]);
    parts = [];
  };
  socket.on('data', (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    take();
    if (wanted !== null && frames.length > 0) {
      const resolve = wanted;
      wanted = null;
      resolve(frames.shift());
    }
  });
  return () => new Promise((resolve) => {
    if (frames.length > 0) resolve(frames.shift());
    else wanted = resolve;
  });
}
