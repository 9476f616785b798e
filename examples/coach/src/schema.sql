-- Runners with their profiles and runs, the apps that speak for them, and what is made for them.

PRAGMA user_version = 2;

CREATE TABLE app (
    -- Of the API key, which is nowhere.
    key_hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    tier TEXT NOT NULL
) STRICT;

CREATE TABLE runner (
    id TEXT PRIMARY KEY,
    -- Millilitres of oxygen per minute and kilogram.
    vo2max REAL NOT NULL,
    -- The pace at the lactate threshold, in seconds per kilometre.
    lt_pace INTEGER NOT NULL
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    runner TEXT NOT NULL REFERENCES runner (id),
    day TEXT NOT NULL,
    km REAL NOT NULL,
    minutes INTEGER NOT NULL
) STRICT;

CREATE INDEX run_by_runner ON run (runner, day);

CREATE TABLE plan (
    runner TEXT PRIMARY KEY REFERENCES runner (id),
    goal TEXT NOT NULL,
    body TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- Of the lock under which it was written: later holders have larger ones.
    fence INTEGER NOT NULL
) STRICT;

-- What the bank, which is imitated, was told to charge: a row for each time.
CREATE TABLE bank (
    id INTEGER PRIMARY KEY,
    runner TEXT NOT NULL,
    "order" TEXT NOT NULL
) STRICT;

CREATE TABLE charge (
    id INTEGER PRIMARY KEY,
    runner TEXT NOT NULL REFERENCES runner (id),
    "order" TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0),
    -- The last word on what was paid, as Redis may forget.
    UNIQUE (runner, "order")
) STRICT;

CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL,
    code TEXT NOT NULL
) STRICT;

WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100)
INSERT INTO runner (id, vo2max, lt_pace) SELECT 'runner-' || n, 35 + n % 30, 360 - n FROM number;

WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5)
INSERT INTO run (runner, day, km, minutes)
SELECT runner.id, date('2026-11-01', '+' || (2 * n) || ' days'), 4 + n, CAST((4 + n) * runner.lt_pace * 1.1 / 60 AS INTEGER)
FROM runner, number;
