/**
 * The memory that discovered keys take, counted in the store. It only adds a table. Nobody counted
 * the batches of an epoch that is open, so it counts as full: studies that discover keys take
 * batches again in their next epoch. Other studies do not look.
 */
export const keyRoomsSchema = `
CREATE TABLE key_rooms (
  epoch_key INTEGER PRIMARY KEY REFERENCES epochs (epoch_key), -- which epoch
  bytes INTEGER NOT NULL -- most memory that the discovered keys of its batches take; absent is 0
) STRICT;
INSERT INTO key_rooms (epoch_key, bytes) SELECT epoch_key, 2147483648 FROM epochs
  WHERE state = 'open';
`;
