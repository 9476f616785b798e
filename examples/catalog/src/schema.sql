-- Twenty-four thousand products in ten categories, the same in every file.

PRAGMA user_version = 1;

CREATE TABLE product (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    price_cents INTEGER NOT NULL CHECK (price_cents > 0),
    rating REAL NOT NULL,
    sold INTEGER NOT NULL
) STRICT;

WITH RECURSIVE
    number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < 24000),
    category (place, category, thing) AS (VALUES
        (0, 'lighting', 'lamp'), (1, 'seating', 'chair'), (2, 'tables', 'desk'), (3, 'storage', 'shelf'),
        (4, 'kitchen', 'kettle'), (5, 'audio', 'speaker'), (6, 'garden', 'planter'), (7, 'travel', 'case'),
        (8, 'clocks', 'clock'), (9, 'textiles', 'blanket')),
    material (place, material) AS (VALUES
        (0, 'Oak'), (1, 'Steel'), (2, 'Walnut'), (3, 'Copper'), (4, 'Linen'), (5, 'Glass'), (6, 'Cork'))
-- Multiplied by primes and cut off, the ids scatter as prices, ratings and sales would.
INSERT INTO product (id, name, category, price_cents, rating, sold)
SELECT id, material || ' ' || thing || ' ' || id, category,
    499 + id * 7919 % 19500, (10 + id * 104729 % 41) / 10.0, id * 15485863 % 5003
FROM number
JOIN category ON category.place = id % 10
JOIN material ON material.place = id % 7;

CREATE INDEX product_by_category ON product (category);
