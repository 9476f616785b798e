-- Writes a plan, unless a later holder of the lock has written it already. Returns the revision if it was written.
INSERT INTO plan (id, goal, steps, revision, fence) VALUES (?1, ?2, ?3, 1, ?4)
ON CONFLICT (id) DO UPDATE SET goal = ?2, steps = ?3, revision = revision + 1, fence = ?4
WHERE fence < ?4
RETURNING revision
