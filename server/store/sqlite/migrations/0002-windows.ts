/**
 * Budgets that renew, and contributors that were left out. It only adds tables: what 0001 wrote
 * keeps its meaning. A budget without a row in `budget_windows` never renews.
 */
export const windowsSchema = `
CREATE TABLE budget_windows (
  budget_id INTEGER PRIMARY KEY REFERENCES budgets (budget_id), -- the budget that renews
  window_ms INTEGER NOT NULL CHECK (window_ms > 0), -- a charge counts for this long; fixed at creation
  renewed_through_ms INTEGER NOT NULL -- charges up to this Unix time no longer are in budgets.rho_spent, delta_spent
) STRICT;

CREATE TABLE contributor_debits (
  budget_id INTEGER NOT NULL, -- which budget of contributor scope that renews
  contributor_id INTEGER NOT NULL, -- whose spending
  epoch_key INTEGER NOT NULL, -- on which epoch; counts until the window has passed since that epoch's charge
  rho TEXT NOT NULL, -- amount under the budget's rule
  delta TEXT NOT NULL, -- amount of delta
  PRIMARY KEY (budget_id, contributor_id, epoch_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX contributor_debits_epoch ON contributor_debits (budget_id, epoch_key);

CREATE TABLE epochs_left_out (
  epoch_key INTEGER PRIMARY KEY REFERENCES epochs (epoch_key), -- the epoch
  contributors INTEGER NOT NULL -- contributors whose budget did not pay for it; for the operator only
) STRICT;

CREATE INDEX ledger_charged ON ledger (budget_id, at_ms) WHERE kind = 'charged';
`;
