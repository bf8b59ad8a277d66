/** Nodes that lead less than others ask for a lease, so that the studies spread. */
export const askedLeasesSchema = `
ALTER TABLE leases
  ADD COLUMN asked_by bigint NOT NULL DEFAULT 0; -- the node that asks to be given the lease; 0 when none
`;
