\set value random(1, 1000000000)
INSERT INTO bench_insert (client, value) VALUES (:client_id, :value);
