-- What the bank has charged, what the post has delivered, and the plans.

PRAGMA user_version = 1;

CREATE TABLE charge (
    id INTEGER PRIMARY KEY,
    payer TEXT NOT NULL,
    "order" TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0)
) STRICT;

CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL,
    code TEXT NOT NULL
) STRICT;

CREATE TABLE plan (
    id TEXT PRIMARY KEY,
    goal TEXT NOT NULL,
    steps TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- Of the lock under which it was written: later holders have larger ones.
    fence INTEGER NOT NULL
) STRICT;
