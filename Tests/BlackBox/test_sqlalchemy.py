"""SQLAlchemy with its stock PostgreSQL dialect: the inspector, Core and the ORM."""


import re
import subprocess
import sys
import textwrap

import pytest
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.ext.automap import automap_base

from daemon import REPOSITORY



@pytest.fixture(scope="module")
def engine(library):
    engine = sa.create_engine(f"postgresql+psycopg://reader@/{library.name}?host={library.directory}")
    yield engine
    engine.dispose()


@pytest.fixture
def inspector(engine):
    return sa.inspect(engine)


# The inspector


def test_names(inspector):
    assert inspector.default_schema_name == "main"
    assert sorted(inspector.get_schema_names()) == ["information_schema", "main"]
    assert sorted(inspector.get_table_names()) == ["Odd Name", "author", "book", "tag"]
    assert inspector.get_view_names() == ["cheap"]
    assert inspector.get_temp_table_names() == []
    assert inspector.get_sequence_names() == []
    assert inspector.has_table("book") and not inspector.has_table("nosuch")


def test_columns(inspector):
    columns = {column["name"]: column for column in inspector.get_columns("book")}
    types = {name: str(column["type"]) for name, column in columns.items()}
    assert types == {
        "id": "BIGINT", "author_id": "BIGINT", "title": "VARCHAR(100)", "price": "NUMERIC(8, 2)", "pages": "BIGINT",
        "isbn": "TEXT", "in_print": "BOOLEAN", "added": "TIMESTAMP", "cover": "BYTEA", "score": "DOUBLE PRECISION"}
    assert [name for name, column in columns.items() if not column["nullable"]] == ["id", "author_id", "title"]
    assert columns["title"]["default"] == "'untitled'::character varying" and columns["price"]["default"] is None


def test_keys(inspector):
    assert inspector.get_pk_constraint("book")["constrained_columns"] == ["id"]
    assert inspector.get_pk_constraint("tag")["constrained_columns"] == ["book_id", "word"]
    assert inspector.get_pk_constraint("tag")["name"] == "tag_key"
    key = inspector.get_foreign_keys("book")[0]
    assert key["constrained_columns"] == ["author_id"] and key["referred_table"] == "author"
    assert key["referred_columns"] == ["id"] and key["options"] == {"ondelete": "CASCADE"}
    odd = inspector.get_foreign_keys("Odd Name")[0]
    assert odd["constrained_columns"] == ['b"q'] and odd["referred_columns"] == ["id"]
    assert odd["options"] == {"onupdate": "SET NULL", "deferrable": True, "initially": "DEFERRED"}


def test_indexes(inspector):
    indexes = {index["name"]: index for index in inspector.get_indexes("book")}
    assert set(indexes) == {"book_title", "book_expr", "book_isbn_key"}
    assert indexes["book_title"]["column_names"] == ["title"] and not indexes["book_title"]["unique"]
    assert indexes["book_expr"]["expressions"] == ["lower(title)", "price"]
    assert indexes["book_expr"]["dialect_options"]["postgresql_where"] == "price IS NOT NULL"
    assert indexes["book_isbn_key"]["duplicates_constraint"] == "book_isbn_key"
    unique = inspector.get_unique_constraints("author")
    assert [(u["name"], u["column_names"]) for u in unique] == [("author_name_key", ["name"])]


def test_checks_comments_and_views(inspector):
    assert [(c["name"], c["sqltext"]) for c in inspector.get_check_constraints("book")] == [("book_pages_check", "pages > 0")]
    assert inspector.get_table_comment("book") == {"text": None}
    assert inspector.get_view_definition("cheap").strip() == "SELECT id, title FROM book WHERE price < 10;"


def test_reflection_of_everything(engine):
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True)
    assert sorted(metadata.tables) == ["Odd Name", "author", "book", "cheap", "tag"]
    assert metadata.tables["book"].c.author_id.references(metadata.tables["author"].c.id)


# Core


def test_core(engine):
    metadata = sa.MetaData()
    author = sa.Table("author", metadata, autoload_with=engine)
    with engine.begin() as connection:
        key = connection.execute(sa.insert(author).values(name="Ursula").returning(author.c.id)).scalar_one()
        rows = connection.execute(sa.select(author.c.name, author.c.born).where(author.c.id == key)).all()
        assert rows == [("Ursula", 1900)]
        changed = connection.execute(sa.update(author).where(author.c.id == key).values(born=1929))
        assert changed.rowcount == 1
        many = connection.execute(
            sa.insert(author).returning(author.c.id, sort_by_parameter_order=True), [{"id": 100 + n, "name": f"n{n}"} for n in range(5)])
        assert [row.id for row in many] == [100, 101, 102, 103, 104]
        assert connection.execute(sa.delete(author)).rowcount == 6


@pytest.mark.filterwarnings("error")
def test_reflected_key(engine):
    """The table fills it, and the client asks what it got."""
    metadata = sa.MetaData()
    author = sa.Table("author", metadata, autoload_with=engine)
    assert author.c.id.identity is not None
    with engine.begin() as connection:
        key = connection.execute(sa.insert(author), {"name": "Stanislaw"}).inserted_primary_key[0]
        assert connection.scalar(sa.select(author.c.name).where(author.c.id == key)) == "Stanislaw"
        connection.execute(sa.insert(author), [{"name": "Boris"}, {"name": "Arkadi"}])
        assert connection.execute(sa.insert(author), {"id": 500, "name": "Octavia"}).inserted_primary_key == (500,)
        assert connection.execute(sa.delete(author)).rowcount == 4


def test_catalog_beside_writes(engine):
    """The tables are looked at in the transaction that made them."""
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE TABLE passing (id INTEGER PRIMARY KEY)"))
        assert sa.inspect(connection).has_table("passing")
        connection.rollback()
        assert not sa.inspect(connection).has_table("passing")


def test_offset_without_a_limit(engine):
    numbers = sa.select(sa.func.generate_series(1, 4).table_valued("value").c.value)
    with engine.connect() as connection:
        assert connection.scalars(numbers.order_by("value").offset(2)).all() == [3, 4]


def test_serial_is_refused(engine):
    metadata = sa.MetaData()
    sa.Table("counted", metadata, sa.Column("id", sa.Integer, primary_key=True))
    with pytest.raises(sa.exc.NotSupportedError, match="SERIAL"):
        metadata.create_all(engine)
    assert not sa.inspect(engine).has_table("counted")


# ORM


def test_reflected_classes(engine):
    mapped = automap_base()
    mapped.prepare(autoload_with=engine)
    author, book = mapped.classes.author, mapped.classes.book
    with orm.Session(engine) as session:
        parent = author(name="Jorge", book_collection=[book(title="Ficciones"), book(title="El Aleph")])
        session.add(parent)
        session.flush()
        assert {b.author_id for b in parent.book_collection} == {parent.id} and len({b.id for b in parent.book_collection}) == 2
        session.rollback()


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    name: orm.Mapped[str]
    born: orm.Mapped[int | None]
    books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "book"
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("author.id"))
    title: orm.Mapped[str]
    pages: orm.Mapped[int | None]
    in_print: orm.Mapped[bool]
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")


def test_orm(engine):
    with orm.Session(engine) as session:
        session.add(
            Author(name="Italo", born=1923, books=[Book(title="Cities", pages=165, in_print=True), Book(title="Baron", in_print=False)]))
        session.commit()
    with orm.Session(engine) as session:
        found = session.scalars(sa.select(Author).where(Author.name == "Italo").options(orm.selectinload(Author.books))).one()
        assert [(b.title, b.pages, b.in_print) for b in sorted(found.books, key=lambda b: b.title)] == [
            ("Baron", None, False), ("Cities", 165, True)]
        found.books[0].pages = 99
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 2
        session.delete(found)
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 0


# Definitions


def test_create_all_as_the_documentation_has_it(start_daemon):
    """In a process of its own: what is compiled otherwise is so for all of a process."""
    documented = (REPOSITORY / "docs/drivers.md").read_text()
    recipe = re.search(r"```python\n(  @compiles.*?)```", documented, re.DOTALL)[1]
    daemon = start_daemon()
    program = CREATE_ALL.format(recipe=textwrap.dedent(recipe), url=f"postgresql+psycopg://me@/{daemon.name}?host={daemon.directory}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("[(1, 'a'), (2, 'b')]\n", 0), done.stderr
    assert daemon.value("SELECT count(*) FROM pragma_table_info('made') WHERE pk AND type = 'INTEGER'") == "1"


CREATE_ALL = """
import re
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn

{recipe}

class Base(orm.DeclarativeBase): pass

class Made(Base):
    __tablename__ = "made"
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    name: orm.Mapped[str]

engine = sa.create_engine("{url}")
Base.metadata.create_all(engine)
Base.metadata.create_all(engine)
with orm.Session(engine) as session:
    session.add_all([Made(name="a"), Made(name="b")])
    session.commit()
    print([(each.id, each.name) for each in session.scalars(sa.select(Made).order_by(Made.id))])
"""


def test_a_union_and_parts_of_dates(engine):
    ones = sa.select(sa.literal_column("1").label("n"), sa.literal_column("'2024-05-06'").label("day")).order_by("n").limit(1)
    twos = sa.select(sa.literal_column("2"), sa.literal_column("'2023-01-01'")).limit(1)
    with engine.connect() as connection:
        assert connection.execute(sa.union(ones, twos).order_by("n")).all() == [(1, "2024-05-06"), (2, "2023-01-01")]
        union = sa.union_all(ones, twos).subquery()
        years = connection.execute(sa.select(sa.extract("year", union.c.day)).where(sa.extract("month", union.c.day) == 5)).scalars().all()
        assert years == [2024]
