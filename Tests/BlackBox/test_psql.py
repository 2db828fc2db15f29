"""psql itself, on Chinook and Northwind: the same rows as the sqlite3 shell, and what a person sees of errors."""

import re
import subprocess

import pytest

SEPARATOR = "\x1f"
NULL = "\x1eNULL"

CHINOOK = {
    "join": "SELECT ar.Name, al.Title FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId ORDER BY 1, 2",
    "left join with NULLs": "SELECT ar.Name, al.Title FROM Artist ar LEFT JOIN Album al USING (ArtistId) ORDER BY ar.ArtistId, 2",
    "five tables": """
        SELECT c.LastName, i.InvoiceDate, t.Name, g.Name, il.UnitPrice * il.Quantity
        FROM Customer c JOIN Invoice i USING (CustomerId) JOIN InvoiceLine il USING (InvoiceId)
        JOIN Track t USING (TrackId) LEFT JOIN Genre g USING (GenreId) ORDER BY il.InvoiceLineId""",
    "self join": """
        SELECT e.LastName, coalesce(m.LastName, '(none)'), m.Title FROM Employee e LEFT JOIN Employee m
        ON m.EmployeeId = e.ReportsTo ORDER BY e.EmployeeId""",
    "aggregates": """
        SELECT BillingCountry, count(*), sum(Total), avg(Total), min(InvoiceDate), max(Total), total(Total),
        group_concat(DISTINCT BillingCity) FROM Invoice GROUP BY BillingCountry HAVING count(*) > 6 ORDER BY 1""",
    "aggregate of nothing": "SELECT count(*), sum(Total), avg(Total), total(Total), max(Total) FROM Invoice WHERE Total > 1000",
    "filtered aggregates": """
        SELECT GenreId, count(*) FILTER (WHERE Milliseconds > 300000), count(Composer), count(DISTINCT AlbumId)
        FROM Track GROUP BY GenreId ORDER BY GenreId""",
    "windows": """
        SELECT CustomerId, InvoiceDate, Total, sum(Total) OVER w, row_number() OVER w, lag(Total) OVER w,
        rank() OVER (PARTITION BY CustomerId ORDER BY Total DESC), ntile(4) OVER (ORDER BY Total, InvoiceId)
        FROM Invoice WINDOW w AS (PARTITION BY CustomerId ORDER BY InvoiceDate, InvoiceId ROWS UNBOUNDED PRECEDING)
        ORDER BY InvoiceId""",
    "window frames": """
        SELECT TrackId, avg(Milliseconds) OVER (ORDER BY TrackId ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING),
        first_value(Name) OVER (PARTITION BY AlbumId ORDER BY TrackId), percent_rank() OVER (ORDER BY Bytes)
        FROM Track WHERE AlbumId < 30 ORDER BY TrackId""",
    "common table expressions": """
        WITH spent AS (SELECT CustomerId, sum(Total) AS s FROM Invoice GROUP BY CustomerId),
        best AS (SELECT * FROM spent WHERE s > (SELECT avg(s) FROM spent))
        SELECT FirstName || ' ' || LastName, round(s, 2) FROM best JOIN Customer USING (CustomerId) ORDER BY s DESC, CustomerId""",
    "recursive hierarchy": """
        WITH RECURSIVE chain(id, level, path) AS (
            SELECT EmployeeId, 0, LastName FROM Employee WHERE ReportsTo IS NULL
            UNION ALL SELECT e.EmployeeId, level + 1, path || ' > ' || e.LastName FROM Employee e JOIN chain ON e.ReportsTo = chain.id)
        SELECT * FROM chain ORDER BY path""",
    "recursive numbers": """
        WITH RECURSIVE f(n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM f WHERE n < 80) SELECT n, a FROM f""",
    "dates": """
        SELECT InvoiceId, date(InvoiceDate), strftime('%Y-%W', InvoiceDate), julianday(InvoiceDate),
        date(InvoiceDate, 'start of month', '+1 month', '-1 day') FROM Invoice ORDER BY InvoiceId""",
    "compound": """
        SELECT City FROM Customer UNION SELECT City FROM Employee EXCEPT SELECT 'Paris' INTERSECT
        SELECT City FROM Customer ORDER BY 1""",
    "subqueries": """
        SELECT Name, (SELECT count(*) FROM PlaylistTrack p WHERE p.TrackId = t.TrackId) AS n FROM Track t
        WHERE EXISTS (SELECT 1 FROM InvoiceLine il WHERE il.TrackId = t.TrackId AND il.Quantity > 0)
        AND GenreId IN (SELECT GenreId FROM Genre WHERE Name LIKE 'r%') ORDER BY TrackId LIMIT 200 OFFSET 10""",
    "NULLs": """
        SELECT Company, Fax IS NULL, Company IS NOT DISTINCT FROM NULL, nullif(Country, 'USA'), NULL, NULL + 1, State
        FROM Customer ORDER BY State NULLS LAST, CustomerId""",
    "kinds of values": """
        SELECT 1, -9223372036854775808, 9223372036854775807, 0.1, 1e300, -1.5e-7, 'text', '', x'', x'00ff', 1 = 1, 1 = 2,
        typeof(1), CAST('12abc' AS INTEGER), 7 / 2, 7 % 3, 7.0 / 2, 1 << 40, ~5, 'a' < 'b'""",
    "json": """
        SELECT json_group_array(Name), json_object('n', count(*), 'x', NULL), json_extract('{"a":[1,2.5,"x"]}', '$.a[1]'),
        '{"k":{"v":"deep"}}' ->> '$.k.v' FROM Genre""",
    "json_each": "SELECT key, value, type FROM json_each('[1, 2.5, \"three\", null, true, {\"a\":1}]') ORDER BY key",
    "text functions": """
        SELECT upper(Name), length(Name), substr(Name, 2, 5), replace(Name, 'a', 'å'), instr(Name, 'o'), printf('%08.3f|%-5s', GenreId, Name),
        hex(Name), quote(Name), unicode(Name), trim('  x ') FROM Genre ORDER BY GenreId""",
    "everything": "SELECT * FROM Track ORDER BY TrackId",
    "case and collation": """
        SELECT Name, CASE WHEN Milliseconds > 400000 THEN 'long' WHEN Composer IS NULL THEN 'nobody' ELSE Composer END
        FROM Track WHERE Name COLLATE NOCASE BETWEEN 'b' AND 'd' ORDER BY Name COLLATE NOCASE, TrackId""",
    "values": "VALUES (1, 'a', NULL), (2, 'b', 2.5), (3, NULL, 7)",
}

FTS5 = """
    CREATE VIRTUAL TABLE IF NOT EXISTS TrackSearch USING fts5(Name, Composer, content='Track', content_rowid='TrackId');
    INSERT INTO TrackSearch (TrackSearch) VALUES ('rebuild');
"""
FULL_TEXT = {
    "match": "SELECT rowid, Name FROM TrackSearch WHERE TrackSearch MATCH 'rock AND roll' ORDER BY rank, rowid",
    "bm25": "SELECT rowid, round(bm25(TrackSearch), 6) FROM TrackSearch WHERE TrackSearch MATCH 'love' ORDER BY 2, 1",
    "highlight": "SELECT highlight(TrackSearch, 0, '[', ']') FROM TrackSearch('name:sun*') ORDER BY rowid",
    "snippet": "SELECT snippet(TrackSearch, -1, '<', '>', '...', 5) FROM TrackSearch WHERE TrackSearch MATCH 'NEAR(the world)' ORDER BY rowid",
    "join": """
        SELECT t.TrackId, t.Name, a.Title FROM TrackSearch s JOIN Track t ON t.TrackId = s.rowid JOIN Album a USING (AlbumId)
        WHERE s.Composer MATCH 'jagger OR "led zeppelin"' ORDER BY t.TrackId""",
}

NORTHWIND_VIEWS = [
    "Alphabetical list of products", "Current Product List", "Customer and Suppliers by City", "Invoices", "Orders Qry",
    "Order Subtotals", "Product Sales for 1997", "Products Above Average Price", "Products by Category",
    "Quarterly Orders", "Sales Totals by Amount", "Summary of Sales by Quarter", "Summary of Sales by Year",
    "Category Sales for 1997", "Order Details Extended", "Sales by Category",
]

NORTHWIND = {
    "blobs": "SELECT EmployeeID, length(Photo), substr(Photo, 1, 40), hex(substr(Photo, -20)) FROM Employees ORDER BY 1",
    "whole blobs": "SELECT CategoryID, Picture FROM Categories ORDER BY 1",
    "views joined": """
        SELECT c.CategoryName, s.SaleAmount, s.CompanyName FROM [Category Sales for 1997] c, [Sales Totals by Amount] s
        WHERE s.SaleAmount * 20 > c.CategorySales ORDER BY 1, 2, 3""",
    "quoted names": 'SELECT "OrderID", [ProductID], `Quantity`, "Order Details".Discount FROM "Order Details" ORDER BY 1, 2',
    "long texts": "SELECT LastName, Notes, PhotoPath, ReportsTo FROM Employees ORDER BY EmployeeID",
    "line breaks": "SELECT EmployeeID, replace(Address, char(10), '\\n') FROM Employees ORDER BY 1",
    "running total by country": """
        SELECT ShipCountry, OrderDate, Freight, sum(Freight) OVER (PARTITION BY ShipCountry ORDER BY OrderDate, OrderID)
        FROM Orders ORDER BY ShipCountry, OrderDate, OrderID""",
    "pivot": """
        SELECT strftime('%Y', OrderDate) AS year, sum(CASE WHEN ShipVia = 1 THEN Freight END),
        sum(CASE WHEN ShipVia = 2 THEN Freight END), count(DISTINCT CustomerID) FROM Orders GROUP BY year ORDER BY year""",
    "dates": """
        SELECT OrderID, julianday(ShippedDate) - julianday(OrderDate), date(RequiredDate, '-7 days'), ShippedDate IS NULL
        FROM Orders ORDER BY OrderID""",
    "top in each group": """
        WITH ranked AS (SELECT p.*, dense_rank() OVER (PARTITION BY CategoryID ORDER BY UnitPrice DESC) AS place FROM Products p)
        SELECT CategoryID, place, ProductName, UnitPrice, Discontinued FROM ranked WHERE place <= 3 ORDER BY 1, 2, 3""",
    "basket": """
        SELECT a.ProductID, b.ProductID, count(*) FROM [Order Details] a JOIN [Order Details] b
        ON a.OrderID = b.OrderID AND a.ProductID < b.ProductID GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 3 DESC, 1, 2""",
    "not ASCII": "SELECT CompanyName, City, length(City), upper(City) FROM Customers WHERE City GLOB '*[^ -~]*' ORDER BY CustomerID",
}


def psql(daemon, *arguments, input=None, check=True):
    command = ["psql", "-X", "-h", str(daemon.directory), "-U", "tester", "-d", daemon.name, *arguments]
    result = subprocess.run(command, input=input, capture_output=True, text=True, timeout=60)
    if check:
        assert result.returncode == 0 and not result.stderr, result.stderr
    return result


def psql_rows(daemon, sql):
    result = psql(daemon, "-At", "-F", SEPARATOR, "-R", "\x1d", "-P", f"null={NULL}", "-v", "ON_ERROR_STOP=1", "-c", sql)
    return rows(result.stdout)


def rows(output):
    output = output.removesuffix("\n").removesuffix("\x1d")
    return [row.split(SEPARATOR) for row in output.split("\x1d")] if output else []


def shell_rows(daemon, sql):
    """The sqlite3 shell on the same file, beside the daemon."""
    commands = f".mode list\n.separator {SEPARATOR} \x1d\n.nullvalue {NULL}\n{sql};\n"
    result = subprocess.run(
        ["sqlite3", "-readonly", "-batch", daemon.database], input=commands.encode(), capture_output=True, timeout=60)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return [row.split(SEPARATOR.encode()) for row in result.stdout.removesuffix(b"\x1d").split(b"\x1d")] if result.stdout else []


def same(ours, theirs):
    """The shell prints reals with 15 digits, blobs as they are, and truths as the integers they are."""
    if (ours, theirs) in [("t", b"1"), ("f", b"0")]:
        return True
    if ours.startswith("\\x"):
        return bytes.fromhex(ours[2:]).split(b"\0")[0] == theirs  # it stops at a NUL
    if ours == theirs.decode(errors="surrogateescape"):
        return True
    try:
        a, b = float(ours), float(theirs)
    except ValueError:
        return False
    return a == b or abs(a - b) <= 1e-14 * max(abs(a), abs(b))


def compare(daemon, sql):
    ours, theirs = psql_rows(daemon, sql), shell_rows(daemon, sql)
    assert len(ours) == len(theirs)
    for our_row, their_row in zip(ours, theirs):
        assert len(our_row) == len(their_row)
        for our_value, their_value in zip(our_row, their_row):
            assert same(our_value, their_value), (our_row, their_row)
    assert ours or "nothing" in sql
    return ours


@pytest.fixture
def chinook(sample_daemons):
    return sample_daemons["chinook"]


@pytest.fixture
def northwind(sample_daemons):
    return sample_daemons["northwind"]


@pytest.mark.parametrize("name", CHINOOK)
def test_chinook(chinook, name):
    compare(chinook, CHINOOK[name])


@pytest.mark.parametrize("name", NORTHWIND)
def test_northwind(northwind, name):
    compare(northwind, NORTHWIND[name])


@pytest.mark.parametrize("view", NORTHWIND_VIEWS)
def test_northwind_views(northwind, view):
    compare(northwind, f'SELECT * FROM "{view}"')


@pytest.mark.parametrize("name", FULL_TEXT)
def test_full_text_search(chinook, name):
    psql(chinook, "-q", "-c", FTS5)
    compare(chinook, FULL_TEXT[name])


def test_whole_blobs_bit_by_bit(northwind):
    import sqlite3

    with sqlite3.connect(f"file:{northwind.database}?mode=ro", uri=True) as connection:
        expected = [row[0] for row in connection.execute("SELECT Picture FROM Categories ORDER BY CategoryID")]
    connection.close()
    ours = psql_rows(northwind, "SELECT Picture FROM Categories ORDER BY CategoryID")
    assert [bytes.fromhex(row[0].removeprefix("\\x")) for row in ours] == expected


def test_column_names(chinook):
    result = psql(chinook, "-A", "-c", 'SELECT Name, count(*) AS "how many", max(TrackId), 1 + 1 FROM Track')
    assert result.stdout.splitlines()[0] == "Name|how many|max|1 + 1"


# What a person sees of an error


def error_of(daemon, sql):
    result = psql(daemon, "-c", sql, check=False)
    assert result.returncode == 1
    return result.stderr


def test_caret(chinook):
    assert error_of(chinook, "SELECT nope FROM Album") == (
        "ERROR:  no such column: nope\n"
        "LINE 1: SELECT nope FROM Album\n"
        "               ^\n"
        "DETAIL:  SQLite result code 1.\n")


def test_caret_in_a_later_line_behind_other_letters(chinook):
    lines = error_of(chinook, "SELECT 'é',\n  'ü' || Nämlich\nFROM Album").splitlines()
    caret = next(line for line in lines if line.strip() == "^")
    shown = next(line for line in lines if line.startswith("LINE 2:"))
    assert shown[caret.index("^") :].startswith("Nämlich")


def test_syntax_error(chinook):
    lines = error_of(chinook, "SELECT * FORM Album").splitlines()
    assert lines[0].startswith("ERROR:") and "syntax error" in lines[0]
    assert lines[1] == "LINE 1: SELECT * FORM Album"
    assert lines[2][lines[2].index("^") :] and lines[1][lines[2].index("^") :].startswith("FORM")


def test_errverbose(chinook):
    result = psql(chinook, input="SELECT nope;\n\\errverbose\n\\echo :SQLSTATE\n", check=False)
    assert "ERROR:  42703: no such column: nope" in result.stderr + result.stdout
    assert result.stdout.splitlines()[-1] == "42703"


def test_error_variables(chinook):
    script = "SELECT count(*) FROM Genre \\gset\nSELECT 1/0 AS x, nope;\n\\echo :ERROR :SQLSTATE :LAST_ERROR_MESSAGE\nSELECT 1;\n\\echo :ERROR :ROW_COUNT\n"
    lines = psql(chinook, "-At", input=script, check=False).stdout.splitlines()
    assert lines[0] == "true 42703 no such column: nope"
    assert lines[-1] == "false 1"


# Command tags

# psql ends a statement at each semicolon, unless a backslash stands before it.
TAGS = [
    ("DROP TABLE IF EXISTS tagged", "DROP TABLE"),
    ("CREATE TABLE tagged (id INTEGER PRIMARY KEY, v TEXT)", "CREATE TABLE"),
    ("CREATE TABLE IF NOT EXISTS tagged (id INTEGER PRIMARY KEY, v TEXT)", "CREATE TABLE"),
    ("CREATE INDEX tagged_v ON tagged (v)", "CREATE INDEX"),
    ("CREATE UNIQUE INDEX tagged_u ON tagged (id, v)", "CREATE INDEX"),
    ("CREATE VIEW tagged_view AS SELECT * FROM tagged", "CREATE VIEW"),
    ("CREATE TRIGGER tagged_t AFTER INSERT ON tagged BEGIN DELETE FROM tagged WHERE id < 0\\; END", "CREATE TRIGGER"),
    ("INSERT INTO tagged VALUES (1, 'a'), (2, 'b'), (3, 'c')", "INSERT 0 3"),
    ("INSERT INTO tagged SELECT id + 10, v FROM tagged", "INSERT 0 3"),
    ("INSERT OR IGNORE INTO tagged VALUES (1, 'x'), (4, 'd')", "INSERT 0 1"),
    ("INSERT INTO tagged VALUES (1, 'x') ON CONFLICT DO NOTHING", "INSERT 0 0"),
    ("INSERT INTO tagged VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET v = excluded.v", "INSERT 0 1"),
    ("REPLACE INTO tagged VALUES (1, 'y')", "INSERT 0 1"),
    ("UPDATE tagged SET v = 'z' WHERE id <= 2", "UPDATE 2"),
    ("UPDATE tagged SET v = 'z' WHERE id = 99", "UPDATE 0"),
    ("WITH c AS (SELECT 3 AS id) UPDATE tagged SET v = 'w' WHERE id IN (SELECT id FROM c)", "UPDATE 1"),
    ("WITH c AS (SELECT 50 AS id) INSERT INTO tagged SELECT id, 'with' FROM c", "INSERT 0 1"),
    ("DELETE FROM tagged WHERE id > 10", "DELETE 4"),
    ("WITH c AS (SELECT 4 AS id) DELETE FROM tagged WHERE id IN (SELECT id FROM c)", "DELETE 1"),
    ("ALTER TABLE tagged RENAME TO tagged2", "ALTER TABLE"),
    ("ALTER TABLE tagged2 ADD COLUMN w", "ALTER TABLE"),
    ("ANALYZE", "ANALYZE"),
    ("REINDEX tagged2", "REINDEX"),
    ("DROP TRIGGER tagged_t", "DROP TRIGGER"),
    ("DROP VIEW tagged_view", "DROP VIEW"),
    ("DROP INDEX tagged_v", "DROP INDEX"),
    ("DROP TABLE tagged2", "DROP TABLE"),
    ("BEGIN", "BEGIN"), ("SAVEPOINT s", "SAVEPOINT"), ("RELEASE s", "RELEASE"), ("COMMIT", "COMMIT"),
    ("START TRANSACTION", "START TRANSACTION"), ("SAVEPOINT s", "SAVEPOINT"), ("ROLLBACK TO s", "ROLLBACK"), ("ABORT", "ROLLBACK"),
    ("SET statement_timeout = 0", "SET"), ("RESET statement_timeout", "RESET"), ("RESET ALL", "RESET"),
    ("DISCARD ALL", "DISCARD ALL"), ("DEALLOCATE ALL", "DEALLOCATE ALL"),
]


def test_tags(chinook):
    script = "".join(f"{sql};\n" for sql, _ in TAGS)
    result = psql(chinook, "-v", "ON_ERROR_STOP=1", input=script)
    got = result.stdout.splitlines()
    assert list(zip([sql for sql, _ in TAGS], got)) == TAGS


def test_several_statements_in_one_command(chinook):
    result = psql(chinook, "-At", "-c", "SELECT 1; SELECT 2, 3; CREATE TABLE several (x); DROP TABLE several; SELECT 4")
    assert result.stdout.splitlines() == ["1", "2|3", "CREATE TABLE", "DROP TABLE", "4"]


def test_several_statements_are_one_transaction(chinook):
    result = psql(chinook, "-c", "CREATE TABLE several (x); INSERT INTO several VALUES (1); SELECT nope", check=False)
    assert result.returncode == 1
    assert "no such table: several" in error_of(chinook, "SELECT * FROM several")


def test_single_transaction_and_script(chinook, tmp_path):
    script = tmp_path / "script.sql"
    script.write_text("CREATE TABLE scripted (x);\nINSERT INTO scripted VALUES (1);\nINSERT INTO nowhere VALUES (1);\n")
    result = psql(chinook, "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", str(script), check=False)
    assert result.returncode == 3 and "no such table: nowhere" in result.stderr
    assert "no such table: scripted" in error_of(chinook, "SELECT * FROM scripted")


def test_whole_sample_through_psql(samples, start_daemon):
    """Northwind as a script, through the daemon: the same database comes out."""
    from conftest import SAMPLES

    # Tables that refer to later ones need foreign keys off, as the script says; that is the server's matter here.
    daemon = start_daemon(config="foreign_keys = false\n")
    text = (SAMPLES / "northwind.sql").read_text()
    text = re.sub(r"(?im)^\s*PRAGMA foreign_keys\s*=\s*\w+;", "", text)
    text = re.sub(r"(?im)^BEGIN( TRANSACTION)?;|^COMMIT;", "", text)
    psql(daemon, "-q", "-v", "ON_ERROR_STOP=1", "-1", "-o", "/dev/null", input=text)
    import sqlite3

    def contents(path):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
            result = {t: sorted(map(repr, connection.execute(f'SELECT * FROM "{t}"'))) for t in tables}
        connection.close()
        return result

    assert contents(daemon.database) == contents(samples["northwind"])


def test_meta_commands(chinook):
    result = psql(chinook, "-At", "-c", "\\conninfo")
    assert str(chinook.directory) in result.stdout and '"chinook"' in result.stdout
    assert psql(chinook, "-At", input="SELECT 1 AS a \\gset\n\\echo :a\nSELECT :a + 1;\n").stdout.split() == ["1", "2"]


def test_fetch_count(chinook):
    """psql's FETCH_COUNT runs queries through a cursor."""
    script = "\\set FETCH_COUNT 100\nSELECT TrackId FROM Track ORDER BY TrackId;\n"
    result = psql(chinook, "-At", input=script)
    assert [int(line) for line in result.stdout.split()] == list(range(1, 3504))


TRIGGER = "CREATE TRIGGER gone AFTER DELETE ON kept BEGIN INSERT INTO log VALUES (old.id){0}; DELETE FROM log WHERE id > 5{0}; END;"


def test_triggers(start_daemon):
    """psql cuts at semicolons. What it makes of that is told, and the ways around it that docs/drivers.md names work."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE kept (id INTEGER PRIMARY KEY)", "CREATE TABLE log (id INTEGER)", "INSERT INTO kept VALUES (1)")
    for cut in [TRIGGER.format(""), TRIGGER.format("").replace("CREATE", "create /* it */")]:
        failed = psql(daemon, "-v", "ON_ERROR_STOP=1", input=cut, check=False)
        assert failed.returncode == 3 and "incomplete input" in failed.stderr and "psql -c" in failed.stderr
    other = psql(daemon, "-v", "ON_ERROR_STOP=1", input="CREATE VIEW v AS;", check=False)
    assert "incomplete input" in other.stderr and "psql -c" not in other.stderr
    psql(daemon, input=TRIGGER.format("\\"))
    psql(daemon, "-c", "DELETE FROM kept; DROP TRIGGER gone", "-c", TRIGGER.format(""), "-c", "INSERT INTO kept VALUES (2); DELETE FROM kept")
    assert daemon.run("SELECT id FROM log ORDER BY id").texts == [("1",), ("2",)]
