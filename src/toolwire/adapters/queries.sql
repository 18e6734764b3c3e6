-- The SQL of the SQLite store. `queries.py` reads it: a name, what the query is for, the query.
--
-- In the first part every query takes many rows at once: `VALUES (?, …)` is repeated for each of them, and rows of
-- NULLs fill the last places, so that a few sizes of statement, kept prepared, serve any number of rows. `CROSS JOIN`
-- has SQLite go through those rows and look each one up; `(a, b) IN (VALUES …)` would go through the table instead.

-- name: versions
-- The versions of the wanted records that are there and had not expired then, as one JSON text [[place, version], …].
-- Rows: place, kind, owner, key, then.
SELECT json_group_array(json_array(wanted.column1, records.version))
FROM (VALUES (?, ?, ?, ?, ?)) AS wanted
CROSS JOIN records
ON records.kind = wanted.column2 AND records.owner = wanted.column3 AND records.key = wanted.column4
WHERE records.expires_at IS NULL OR records.expires_at > wanted.column5;

-- name: last_seqs
-- The last `seq` of each wanted stream that has rows, as one JSON text [[place, seq], …].
-- Rows: place, stream.
SELECT json_group_array(json_array(place, seq))
FROM (
    SELECT wanted.column1 AS place, (SELECT max(rows.seq) FROM rows WHERE rows.stream = wanted.column2) AS seq
    FROM (VALUES (?, ?)) AS wanted
)
WHERE seq IS NOT NULL;

-- name: delete_records
-- Rows: kind, owner, key.
DELETE FROM records WHERE rowid IN (
    SELECT records.rowid FROM (VALUES (?, ?, ?)) AS gone
    CROSS JOIN records ON records.kind = gone.column1 AND records.owner = gone.column2 AND records.key = gone.column3
);

-- name: put_records
-- Write whole records; their versions have been decided.
-- Rows: kind, owner, key, version, expires_at, value.
INSERT INTO records (kind, owner, key, version, expires_at, value)
SELECT * FROM (VALUES (?, ?, ?, ?, ?, ?)) WHERE column1 IS NOT NULL
ON CONFLICT (kind, owner, key) DO UPDATE
SET version = excluded.version, expires_at = excluded.expires_at, value = excluded.value;

-- name: put_next_records
-- Write whole records, each with a version so much higher than that of the one that is there, if it had not expired then.
-- Rows: kind, owner, key, how much higher, expires_at, value, then.
INSERT INTO records (kind, owner, key, version, expires_at, value)
SELECT column1, column2, column3, column4 + coalesce((
    SELECT version FROM records
    WHERE kind = column1 AND owner = column2 AND key = column3 AND (expires_at IS NULL OR expires_at > column7)
), 0), column5, column6
FROM (VALUES (?, ?, ?, ?, ?, ?, ?)) WHERE column1 IS NOT NULL
ON CONFLICT (kind, owner, key) DO UPDATE
SET version = excluded.version, expires_at = excluded.expires_at, value = excluded.value;

-- name: drop_streams
-- Rows: stream.
DELETE FROM rows WHERE stream IN (VALUES (?));

-- name: append_rows
-- Rows: stream, seq, value.
INSERT INTO rows (stream, seq, value)
SELECT * FROM (VALUES (?, ?, ?)) WHERE column1 IS NOT NULL;

-- name: delete_work
-- Rows: queue, id.
DELETE FROM work WHERE position IN (
    SELECT work.position FROM (VALUES (?, ?)) AS gone
    CROSS JOIN work ON work.queue = gone.column1 AND work.id = gone.column2
);

-- name: put_work
-- Enqueue; what was there under the same id becomes new work but keeps its place among those due at the same time.
-- Rows: queue, id, due, body.
INSERT INTO work (queue, id, due, body)
SELECT * FROM (VALUES (?, ?, ?, ?)) WHERE column1 IS NOT NULL
ON CONFLICT (queue, id) DO UPDATE
SET due = excluded.due, body = excluded.body, attempts = 0, lease_until = NULL, worker = NULL;

-- name: give_back_work
-- Rows: queue, id, due.
UPDATE work SET due = given.column3, lease_until = NULL, worker = NULL
FROM (VALUES (?, ?, ?)) AS given
WHERE work.queue = given.column1 AND work.id = given.column2;

-- name: claim_work
-- Lease due work; what comes back is in no particular order. The index `work_by_due` alone finds the entries.
-- Parameters: lease_until, worker; queue, now, now, limit.
UPDATE work SET attempts = attempts + 1, lease_until = ?, worker = ?
WHERE position IN (
    SELECT position FROM work
    WHERE queue = ? AND due <= ? AND (lease_until IS NULL OR lease_until <= ?)
    ORDER BY due, position
    LIMIT ?
)
RETURNING due, position, id, body, attempts;

-- name: sweep_records
-- Parameters: now, limit.
DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE expires_at <= ? LIMIT ?);

-- name: get_record
-- Parameters: kind, owner, key, now.
SELECT key, owner, value, version FROM records
WHERE kind = ? AND owner = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?);

-- name: scan_owner
-- Parameters: kind, owner, after, now, limit.
SELECT key, owner, value, version FROM records
WHERE kind = ? AND owner = ? AND key > ? AND (expires_at IS NULL OR expires_at > ?)
ORDER BY key
LIMIT ?;

-- name: scan_all
-- A page over all owners, and then the other owners of its last key: the next page begins after that key.
-- Parameters: kind, after, now, limit; kind, after, now.
WITH page AS (
    SELECT key FROM records
    WHERE kind = ? AND key > ? AND (expires_at IS NULL OR expires_at > ?)
    ORDER BY key
    LIMIT ?
)
SELECT key, owner, value, version FROM records
WHERE kind = ? AND key > ? AND key <= (SELECT max(key) FROM page) AND (expires_at IS NULL OR expires_at > ?)
ORDER BY key, owner;

-- name: read_rows
-- Parameters: stream, after, limit.
SELECT seq, value FROM rows WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: get_generation
-- Of the redo log whose records are for this state.
SELECT generation FROM redo;

-- name: set_generation
-- Parameters: generation.
UPDATE redo SET generation = ?;
