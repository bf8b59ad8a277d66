// Passes standard input on to the socket that the argument names, and what comes from there to
// standard output. It ends with the socket.
import { connect } from 'node:net';

const socket = connect(process.argv[2]);
process.stdin.pipe(socket).pipe(process.stdout);
socket.once('close', () => process.exit(0));
