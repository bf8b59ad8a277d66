/**
 * The memory that discovered keys take, counted in the store, so that every node takes batches of
 * their studies. Nobody counted the batches of an epoch that is open, so it counts as full: such
 * studies take batches again in their next epoch. Other studies do not look.
 */
export const keyRoomsSchema = `
DROP FUNCTION IF EXISTS admit_list(bigint, bigint, bigint[], bigint[], bigint[], bytea[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[], bigint[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[], bytea[], bigint[],
  bigint[], bigint[], text[], text[], bigint[], bigint[], bigint[], text[], text[], bigint[],
  bigint[], bigint[], text[], bigint[], bigint[], bigint[], bigint[], bigint[]);

CREATE TABLE key_rooms (
  epoch_key bigint PRIMARY KEY REFERENCES epochs (epoch_key), -- which epoch
  bytes bigint NOT NULL -- most memory that the discovered keys of its batches take; absent is 0
);
INSERT INTO key_rooms (epoch_key, bytes) SELECT epoch_key, 2147483648 FROM epochs
  WHERE state = 'open';
`;
