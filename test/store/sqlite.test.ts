import { systemClock } from '../../server/base/clock.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { storeSuite } from '../support/store-suite.js';

storeSuite('SQLite store, inline', (directory) =>
  openInlineSqliteStore({ directory, clock: systemClock }));
storeSuite('SQLite store, on its thread', (directory) =>
  openSqliteStore({ directory, clock: systemClock }), ['slow']);
