-- The schema that the golden files of test_catalog_psql.py are about.
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER DEFAULT 1900, UNIQUE (name));
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author (id) ON DELETE CASCADE, title VARCHAR(100) NOT NULL DEFAULT 'untitled', price NUMERIC(8,2), pages INTEGER CHECK (pages > 0), isbn TEXT UNIQUE, in_print BOOLEAN DEFAULT true, added TIMESTAMP DEFAULT CURRENT_TIMESTAMP, cover BLOB, score REAL);
CREATE INDEX book_title ON book (title);
CREATE INDEX book_expr ON book (lower(title), price DESC) WHERE price IS NOT NULL;
CREATE TABLE tag (book_id INTEGER REFERENCES book (id), word TEXT, CONSTRAINT tag_key PRIMARY KEY (book_id, word)) WITHOUT ROWID;
CREATE TABLE "Odd Name" ("Some Column" TEXT, "b""q" INTEGER, FOREIGN KEY ("b""q") REFERENCES author ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED);
CREATE VIEW cheap AS SELECT id, title FROM book WHERE price < 10;
CREATE TRIGGER book_added AFTER INSERT ON book BEGIN UPDATE book SET added = CURRENT_TIMESTAMP WHERE id = new.id; END;
