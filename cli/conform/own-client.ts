import { createContributor, openOutbox, subscribe } from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { sealing } from '../../client/sealing.js';
import { serveLines } from './line-program.js';

/** A program of its own: `keelson conform` starts it when no command is given. */
await serveLines({ createContributor, createOnceContributor, openOutbox, subscribe, sealing });
