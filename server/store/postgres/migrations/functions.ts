/**
 * The functions of the newest schema. Every migration puts them in anew. They decide nothing: they
 * take locks, and write what still holds. Each statement of a function sees what was committed
 * before it began, so whatever is read after a lock is not older than the lock.
 *
 * - `begin_write`: the first statement of every transaction of a node. It notes the number of the
 *   transaction, so that the node can ask later whether it was committed.
 * - `lead_write`: the second statement of every transaction that only the leader of a study may
 *   make. It fails when another node has taken the lease. It also wakes all nodes.
 * - `take_lease`: takes the lease of a study's budget when it has been over for `free_ms`. A node
 *   that has it already keeps it, with its token.
 * - `renew_leases`: returns the budgets whose leases are lost. It waits for no row: a row that is
 *   locked is in use by a transaction of this node, or is being taken.
 * - `lock_studies`: the gate, closed. Taken by everything that changes what admission reads.
 * - `admit_list`: one list of batches, all or nothing. It holds the gate open for its studies to
 *   the end of its transaction. So a list either commits before a closing begins to change
 *   anything, or finds another revision and writes nothing. What lists of all nodes share, the
 *   counts of new keys and the people of an epoch (rules/people.ts), it locks last and in order:
 *   for the shortest time, and with nothing left to wait for. The number of people is checked
 *   under that lock, so that lists of several nodes never pass it together. It locks `nodes`
 *   first, as all that write do: a migration, which keeps them out there, then waits for none that
 *   waits for it (versions.ts).
 */
export const functions = `
CREATE OR REPLACE FUNCTION gate_class() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT hashtext('keelson ' || current_schema()) $$;

CREATE OR REPLACE FUNCTION news_channel() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT 'keelson_' || md5(current_schema()) $$;

CREATE OR REPLACE FUNCTION begin_write(own bigint, number bigint) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
  UPDATE nodes SET last = number, seen_at = clock_timestamp()
    WHERE node_id = own AND last = number - 1;
  IF NOT FOUND THEN RAISE EXCEPTION 'the node is not known' USING ERRCODE = 'KE003'; END IF;
END $$;

CREATE OR REPLACE FUNCTION lead_write(study text, held bigint) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM leases WHERE token = held
    AND budget_id = (SELECT budget_id FROM studies WHERE study_id = study) FOR SHARE;
  IF NOT FOUND THEN RAISE EXCEPTION 'the lease is lost' USING ERRCODE = 'KE004'; END IF;
  PERFORM pg_notify(news_channel(), '');
END $$;

CREATE OR REPLACE FUNCTION take_lease(study text, own bigint, ttl_ms bigint, free_ms bigint)
RETURNS TABLE (budget bigint, granted bigint) LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := clock_timestamp();
BEGIN
  SELECT budget_id INTO budget FROM studies WHERE study_id = study;
  IF NOT FOUND THEN RETURN NEXT; RETURN; END IF;
  UPDATE leases AS l SET expires_at = at + ttl_ms * interval '1 ms'
    WHERE l.budget_id = budget AND l.node_id = own RETURNING l.token INTO granted;
  IF FOUND THEN RETURN NEXT; RETURN; END IF;
  PERFORM 1 FROM leases AS l WHERE l.budget_id = budget
    AND l.expires_at + free_ms * interval '1 ms' > at;
  IF FOUND THEN RETURN; END IF;
  INSERT INTO leases AS l (budget_id, node_id, token, expires_at)
    VALUES (budget, own, 1, at + ttl_ms * interval '1 ms')
    ON CONFLICT (budget_id) DO UPDATE
      SET node_id = own, token = l.token + 1, expires_at = excluded.expires_at, asked_by = 0
      WHERE l.expires_at + free_ms * interval '1 ms' <= clock_timestamp()
    RETURNING l.token INTO granted;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM lock_studies(ARRAY(SELECT study_id FROM studies WHERE budget_id = budget), NULL);
  PERFORM pg_notify(news_channel(), '');
  RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION renew_leases(own bigint, budgets bigint[], tokens bigint[], ttl_ms bigint)
RETURNS SETOF bigint LANGUAGE plpgsql AS $$ BEGIN
  UPDATE nodes SET seen_at = clock_timestamp() WHERE node_id IN
    (SELECT node_id FROM nodes WHERE node_id = own FOR UPDATE SKIP LOCKED);
  UPDATE leases SET expires_at = clock_timestamp() + ttl_ms * interval '1 ms' WHERE budget_id IN
    (SELECT l.budget_id FROM leases AS l
      JOIN unnest(budgets, tokens) AS held (budget_id, token) USING (budget_id, token)
      FOR NO KEY UPDATE OF l SKIP LOCKED);
  RETURN QUERY SELECT held.budget_id FROM unnest(budgets, tokens) AS held (budget_id, token)
    WHERE NOT EXISTS (SELECT 1 FROM leases AS l
      WHERE l.budget_id = held.budget_id AND l.token = held.token);
END $$;

CREATE OR REPLACE FUNCTION affected(ids text[], budget text) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$ BEGIN
  RETURN QUERY SELECT s.study_key FROM studies AS s JOIN budgets AS b USING (budget_id)
  WHERE s.study_id = ANY (ids) OR (b.scope = 'contributor' AND (b.budget_key = budget
    OR s.budget_id IN (SELECT budget_id FROM studies WHERE study_id = ANY (ids))))
  ORDER BY s.study_key;
END $$;

CREATE OR REPLACE FUNCTION lock_studies(ids text[], budget text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE gate bigint;
BEGIN
  IF budget IS NOT NULL THEN PERFORM pg_advisory_xact_lock(gate_class(), 0); END IF;
  FOR gate IN SELECT affected(ids, budget) LOOP
    PERFORM pg_advisory_xact_lock(gate_class(), gate::int);
  END LOOP;
  PERFORM 1 FROM budgets WHERE budget_key = budget
    OR budget_id IN (SELECT budget_id FROM studies WHERE study_id = ANY (ids))
    ORDER BY budget_id FOR UPDATE;
  UPDATE studies SET revision = revision + 1 WHERE study_key IN (SELECT affected(ids, budget));
END $$;

CREATE OR REPLACE FUNCTION admit_list(
  own bigint, number bigint,
  study_keys bigint[], revisions bigint[],
  new_ids bigint[], new_public_keys bytea[],
  w_study bigint[], w_contributor bigint[], w_version bigint[], w_contiguous bigint[],
  w_high bigint[], w_epoch bigint[], w_rows bigint[], w_complete bigint[], w_window bytea[],
  t_epoch bigint[], t_contributors bigint[], t_complete bigint[], t_left_out bigint[],
  j_epoch bigint[], j_position bigint[], j_contributor bigint[], j_sequence bigint[],
  j_complete bigint[], j_sealed bytea[],
  s_budget bigint[], s_contributor bigint[], s_version bigint[], s_rho text[], s_delta text[],
  s_pure text[],
  d_budget bigint[], d_contributor bigint[], d_epoch bigint[], d_rho text[], d_delta text[],
  d_pure text[],
  p_study bigint[], p_contributor bigint[], p_epoch bigint[],
  n_name text[], n_per bigint[], n_from bigint[], n_keys bigint[], n_from_read bigint[],
  n_keys_read bigint[],
  h_epoch bigint[], h_people bigint[], h_most bigint[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  gate bigint;
  wrote bigint;
  more bigint;
  most bigint;
BEGIN
  LOCK TABLE nodes IN ROW EXCLUSIVE MODE;
  FOREACH gate IN ARRAY study_keys LOOP
    PERFORM pg_advisory_xact_lock_shared(gate_class(), gate::int);
  END LOOP;
  PERFORM 1 FROM unnest(study_keys, revisions) AS read (study_key, revision)
    LEFT JOIN studies USING (study_key, revision) WHERE studies.study_id IS NULL;
  IF FOUND THEN RETURN false; END IF;
  PERFORM begin_write(own, number);

  IF cardinality(new_ids) > 0 THEN
    INSERT INTO contributors (contributor_id, public_key)
      SELECT * FROM unnest(new_ids, new_public_keys) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS wrote = ROW_COUNT;
    IF wrote < cardinality(new_ids) THEN RAISE EXCEPTION 'read again' USING ERRCODE = 'KE002'; END IF;
  END IF;

  UPDATE replay AS r SET version = r.version + 1, contiguous = w.contiguous, high = w.high,
      epoch_key = w.epoch_key, row_count = w.row_count, complete = w.complete, "window" = w.entries
    FROM unnest(w_study, w_contributor, w_version, w_contiguous, w_high, w_epoch, w_rows, w_complete,
        w_window) AS w (study_key, contributor_id, version, contiguous, high, epoch_key, row_count,
        complete, entries)
    WHERE r.study_key = w.study_key AND r.contributor_id = w.contributor_id
      AND r.version = w.version;
  GET DIAGNOSTICS wrote = ROW_COUNT;
  INSERT INTO replay (study_key, contributor_id, contiguous, high, epoch_key, row_count, complete,
      "window")
    SELECT study_key, contributor_id, contiguous, high, epoch_key, row_count, complete, entries
    FROM unnest(w_study, w_contributor, w_version, w_contiguous, w_high, w_epoch, w_rows, w_complete,
        w_window) AS w (study_key, contributor_id, version, contiguous, high, epoch_key, row_count,
        complete, entries)
    WHERE version = 0 ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS more = ROW_COUNT;
  IF wrote + more < cardinality(w_study) THEN
    RAISE EXCEPTION 'read again' USING ERRCODE = 'KE002';
  END IF;

  IF cardinality(t_epoch) > 0 THEN
    INSERT INTO epoch_tallies AS t (epoch_key, writer, contributors, complete, left_out)
      SELECT epoch_key, own, contributors, complete, left_out
      FROM unnest(t_epoch, t_contributors, t_complete, t_left_out)
        AS n (epoch_key, contributors, complete, left_out)
      ON CONFLICT (epoch_key, writer) DO UPDATE SET
        contributors = t.contributors + excluded.contributors,
        complete = t.complete + excluded.complete,
        left_out = t.left_out + excluded.left_out;
  END IF;

  FOR gate IN SELECT DISTINCT unnest(j_epoch) LOOP
    EXECUTE format('INSERT INTO %I (position, contributor_id, sequence, complete, sealed)
      SELECT position, contributor_id, sequence, complete, sealed
      FROM unnest($1, $2, $3, $4, $5, $6)
        AS j (epoch_key, position, contributor_id, sequence, complete, sealed)
      WHERE epoch_key = $7', 'journal_' || gate)
      USING j_epoch, j_position, j_contributor, j_sequence, j_complete, j_sealed, gate;
  END LOOP;

  IF cardinality(s_budget) > 0 THEN
    PERFORM write_spending(s_budget, s_contributor, s_version, s_rho::numeric[], s_delta::numeric[],
      s_pure);
    INSERT INTO contributor_debits (budget_id, contributor_id, epoch_key, rho, delta, pure)
      SELECT budget_id, contributor_id, epoch_key, rho, delta, nullif(pure, '')::numeric
      FROM unnest(d_budget, d_contributor, d_epoch, d_rho::numeric[], d_delta::numeric[], d_pure)
        AS d (budget_id, contributor_id, epoch_key, rho, delta, pure);
  END IF;
  IF cardinality(p_study) > 0 THEN
    INSERT INTO running_participations AS p (study_key, contributor_id, epoch)
      SELECT * FROM unnest(p_study, p_contributor, p_epoch)
      ON CONFLICT (study_key, contributor_id) DO UPDATE SET epoch = excluded.epoch;
  END IF;
  IF cardinality(n_name) > 0 THEN
    PERFORM write_new_keys(n_name, n_per, n_from, n_keys, n_from_read, n_keys_read);
  END IF;
  FOR gate, more, most IN
    SELECT * FROM unnest(h_epoch, h_people, h_most) AS h (epoch_key, people, most)
    ORDER BY epoch_key
  LOOP
    INSERT INTO epoch_people AS h (epoch_key, people) VALUES (gate, more)
      ON CONFLICT (epoch_key) DO UPDATE SET people = h.people + excluded.people
      WHERE h.people + excluded.people <= most;
    IF NOT FOUND THEN RAISE EXCEPTION 'read again' USING ERRCODE = 'KE002'; END IF;
  END LOOP;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION write_spending(
  budgets bigint[], contributors bigint[], versions bigint[], rhos numeric[], deltas numeric[],
  pures text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wrote bigint;
  more bigint;
BEGIN
  UPDATE contributor_spend AS s SET version = s.version + 1, rho = n.rho, delta = n.delta,
      pure = nullif(n.pure, '')::numeric
    FROM unnest(budgets, contributors, versions, rhos, deltas, pures)
      AS n (budget_id, contributor_id, version, rho, delta, pure)
    WHERE s.budget_id = n.budget_id AND s.contributor_id = n.contributor_id
      AND s.version = n.version;
  GET DIAGNOSTICS wrote = ROW_COUNT;
  INSERT INTO contributor_spend (budget_id, contributor_id, rho, delta, pure)
    SELECT budget_id, contributor_id, rho, delta, nullif(pure, '')::numeric
    FROM unnest(budgets, contributors, versions, rhos, deltas, pures)
      AS n (budget_id, contributor_id, version, rho, delta, pure)
    WHERE version = 0 ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS more = ROW_COUNT;
  IF wrote + more < cardinality(budgets) THEN
    RAISE EXCEPTION 'read again' USING ERRCODE = 'KE002';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION write_new_keys(
  names text[], pers bigint[], froms bigint[], counts bigint[], froms_read bigint[],
  counts_read bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wrote bigint;
  more bigint;
BEGIN
  UPDATE new_keys AS k SET from_ms = n.from_ms, keys = n.keys
    FROM unnest(names, pers, froms, counts, froms_read, counts_read)
      AS n (study_name, per_ms, from_ms, keys, from_read, keys_read)
    WHERE k.study_name = n.study_name AND k.per_ms = n.per_ms
      AND k.from_ms = n.from_read AND k.keys = n.keys_read;
  GET DIAGNOSTICS wrote = ROW_COUNT;
  INSERT INTO new_keys (study_name, per_ms, from_ms, keys)
    SELECT study_name, per_ms, from_ms, keys
    FROM unnest(names, pers, froms, counts, froms_read, counts_read)
      AS n (study_name, per_ms, from_ms, keys, from_read, keys_read)
    WHERE keys_read < 0 ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS more = ROW_COUNT;
  IF wrote + more < cardinality(names) THEN
    RAISE EXCEPTION 'read again' USING ERRCODE = 'KE002';
  END IF;
END $$;
`;
