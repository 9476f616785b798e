-- A product with its rank. One product beats another of its category that is both rated lower and sold less;
-- the rank follows from how many each beats. So every product of the category meets every other, and no index
-- makes that cheap. The price has no part in it: a change of price concerns one product alone.
WITH
    peer AS MATERIALIZED (
        SELECT id, rating, sold FROM product
        WHERE category = (SELECT category FROM product WHERE id = ?1)
    ),
    standing AS MATERIALIZED (
        SELECT id, (
            SELECT count(*) FROM peer AS other WHERE other.rating < peer.rating AND other.sold < peer.sold
        ) AS beaten
        FROM peer
    )
SELECT name, category, price_cents, rating,
    (SELECT count(*) + 1 FROM standing WHERE beaten > own.beaten),
    (SELECT count(*) FROM peer)
FROM product JOIN standing AS own USING (id)
WHERE id = ?1;
