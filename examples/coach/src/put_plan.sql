-- Writes a plan, unless a later holder of the lock has written one already. Returns the revision if it was written.
INSERT INTO plan (runner, goal, body, revision, fence) VALUES (?1, ?2, ?3, 1, ?4)
ON CONFLICT (runner) DO UPDATE SET goal = ?2, body = ?3, revision = revision + 1, fence = ?4
WHERE fence < ?4
RETURNING revision
