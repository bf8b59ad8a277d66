/**
 * Starts that were accepted with an older database. It only adds tables; rows are added, never
 * changed.
 */
export const rollbacksSchema = `
CREATE TABLE rollbacks (
  rollback INTEGER PRIMARY KEY, -- order of acceptance, from 1
  at_ms INTEGER NOT NULL, -- Unix time
  ledger_found INTEGER NOT NULL, -- newest entry of the ledger in the database that was accepted
  ledger_marked INTEGER, -- newest entry by the mark; NULL when there was no mark to compare with
  releases_found INTEGER NOT NULL, -- releases of all studies in that database
  releases_marked INTEGER -- releases by the mark; NULL when there was none
) STRICT;

CREATE TABLE rollback_charges (
  entry_id INTEGER PRIMARY KEY REFERENCES ledger (entry_id), -- the charge for what was lost
  rollback INTEGER NOT NULL REFERENCES rollbacks (rollback) -- the acceptance that made it
) STRICT;
`;
