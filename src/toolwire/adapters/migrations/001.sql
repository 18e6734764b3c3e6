-- Records, streams and queues. `rowid` tables: with values of a few hundred bytes and more they write less than
-- WITHOUT ROWID tables, whose rows spill to overflow pages from about 1 kB on.
CREATE TABLE records (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at REAL,
    value BLOB NOT NULL, -- last, so that a version is read without the pages of its value
    UNIQUE (kind, owner, key)
);
CREATE INDEX records_by_key ON records (kind, key, owner);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE rows (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (stream, seq)
);

CREATE TABLE work (
    position INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    id TEXT NOT NULL,
    due REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until REAL,
    worker TEXT,
    body BLOB NOT NULL,
    UNIQUE (queue, id)
);
CREATE INDEX work_by_due ON work (queue, due, position, lease_until);
