/**
 * The first schema. SQLite keeps the comments inside the statements in its catalogue, so the file
 * documents itself. Privacy amounts are TEXT: decimal integers in units of 2^-64, too wide for
 * INTEGER. Journals and secrets have their own tables for each epoch: epoch-tables.ts.
 */
export const initialSchema = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY, -- what the number is; journal_position = the last position ever given out
  value INTEGER NOT NULL -- its value
) STRICT, WITHOUT ROWID;

CREATE TABLE budgets (
  budget_id INTEGER PRIMARY KEY, -- short name used by the other tables
  budget_key TEXT NOT NULL UNIQUE, -- study:<name> or population:<name>
  scope TEXT NOT NULL CHECK (scope IN ('study', 'contributor', 'population')), -- whose spending is counted
  rule TEXT NOT NULL CHECK (rule IN ('zcdp', 'pure', 'renyi')), -- unit of the amounts; fixed at creation
  renyi_order REAL, -- order of the renyi rule; NULL for the others
  rho_cap TEXT NOT NULL, -- most that may ever be spent: rho, or epsilon under the pure rule; only shrinks
  delta_cap TEXT NOT NULL, -- most delta that may ever be spent; only shrinks
  rho_spent TEXT NOT NULL, -- charged so far; under contributor scope the public bound min(cap, sum of epochs)
  delta_spent TEXT NOT NULL, -- charged delta so far
  rho_reserved TEXT NOT NULL, -- promised to epochs that are open or closing
  delta_reserved TEXT NOT NULL, -- delta promised to them
  epsilon REAL NOT NULL, -- the statement that the caps came from, for reports
  delta REAL NOT NULL -- the delta of that statement
) STRICT;

CREATE TABLE studies (
  study_key INTEGER PRIMARY KEY, -- short name used by the other tables
  study_id TEXT NOT NULL UNIQUE, -- SHA-256 of the canonical document, lower-case hex
  name TEXT NOT NULL, -- the study's name; versions share it
  document TEXT NOT NULL, -- canonical JSON of the public facts
  budget_id INTEGER NOT NULL REFERENCES budgets (budget_id), -- where its epochs are charged
  state TEXT NOT NULL CHECK (state IN ('open', 'exhausted', 'ended')), -- whether it takes batches
  release_count INTEGER NOT NULL, -- releases in its log; the next index
  last_digest TEXT NOT NULL, -- SHA-512 of the newest release body in hex; 128 zeros when none
  last_epoch INTEGER NOT NULL, -- highest epoch ever opened; 0 when none
  registered_at_ms INTEGER NOT NULL -- Unix time of the first registration
) STRICT;

CREATE TABLE epochs (
  epoch_key INTEGER PRIMARY KEY, -- short name used by journal and replay; never 0
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- whose epoch it is
  epoch INTEGER NOT NULL CHECK (epoch > 0), -- its public number in the study
  state TEXT NOT NULL CHECK (state IN ('open', 'closing', 'charged', 'released', 'lapsed')), -- see contract.ts
  opens_at_ms INTEGER NOT NULL, -- Unix time of opening
  closes_at_ms INTEGER NOT NULL, -- Unix time of closing; 0 when it closes on a count
  rho TEXT NOT NULL, -- cost of its release under the budget's rule
  delta TEXT NOT NULL, -- delta of its release
  rows_max INTEGER NOT NULL, -- rows that one contributor may give
  late TEXT NOT NULL CHECK (late IN ('next', 'drop')), -- what happens to batches that name the epoch before
  recoveries INTEGER NOT NULL, -- times that a start tried to rebuild it since it was last rebuilt
  contributors INTEGER NOT NULL, -- contributors with an accepted batch; for the operator only
  released_at_ms INTEGER NOT NULL, -- Unix time its release was stored; 0 before
  purged INTEGER NOT NULL CHECK (purged IN (0, 1, 2)), -- 0 rows in the file, 1 deleted but maybe in the log, 2 gone
  UNIQUE (study_key, epoch)
) STRICT;
CREATE UNIQUE INDEX epochs_one_open ON epochs (study_key) WHERE state = 'open';
CREATE INDEX epochs_unfinished ON epochs (state) WHERE state IN ('open', 'closing', 'charged');
CREATE INDEX epochs_unpurged ON epochs (study_key) WHERE purged < 2;

CREATE TABLE ledger (
  entry_id INTEGER PRIMARY KEY, -- order of writing
  budget_id INTEGER NOT NULL REFERENCES budgets (budget_id), -- whose money
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- who spent it
  epoch INTEGER NOT NULL, -- on which epoch
  kind TEXT NOT NULL CHECK (kind IN ('reserved', 'charged', 'lapsed', 'declined')), -- what happened
  rho TEXT NOT NULL, -- amount under the budget's rule
  delta TEXT NOT NULL, -- amount of delta
  events TEXT NOT NULL, -- canonical JSON of the plan's mechanism events; empty unless charged
  at_ms INTEGER NOT NULL, -- Unix time of the entry
  UNIQUE (study_key, epoch, kind)
) STRICT;
CREATE INDEX ledger_budget ON ledger (budget_id);

CREATE TABLE contributors (
  contributor_id INTEGER PRIMARY KEY, -- short name used by journal and replay
  public_key BLOB NOT NULL UNIQUE CHECK (length(public_key) = 32) -- Ed25519 public key
) STRICT;

CREATE TABLE replay (
  study_key INTEGER NOT NULL, -- which study
  contributor_id INTEGER NOT NULL, -- which contributor
  contiguous INTEGER NOT NULL, -- every sequence up to here is settled
  high INTEGER NOT NULL, -- highest settled sequence
  window BLOB NOT NULL, -- recent settled sequences with verdict and fingerprint: replay-window.ts
  epoch_key INTEGER NOT NULL, -- epoch of the contribution counted in the next two columns; 0 when none
  row_count INTEGER NOT NULL, -- rows accepted for that epoch
  complete INTEGER NOT NULL, -- 1 when that contribution takes no more rows
  PRIMARY KEY (study_key, contributor_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE contributor_spend (
  budget_id INTEGER NOT NULL, -- which budget of contributor scope
  contributor_id INTEGER NOT NULL, -- whose spending
  rho TEXT NOT NULL, -- spent so far
  delta TEXT NOT NULL, -- delta spent so far
  PRIMARY KEY (budget_id, contributor_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE releases (
  study_key INTEGER NOT NULL REFERENCES studies (study_key), -- whose log
  release_index INTEGER NOT NULL, -- place in the log, from 0
  epoch INTEGER NOT NULL, -- the epoch it answers
  body BLOB NOT NULL, -- the signed bytes
  signature BLOB NOT NULL, -- the server's signature
  digest TEXT NOT NULL, -- SHA-512 of body, hex
  stored_at_ms INTEGER NOT NULL, -- Unix time of storing
  PRIMARY KEY (study_key, release_index),
  UNIQUE (study_key, epoch)
) STRICT;
`;
