import Testing

@testable import Pool

@Suite struct FullTextContentTests {
    @Test(arguments: [
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='Note')", "note"),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content = \"note\", content_rowid = id)", "note"),
        ("create virtual table f using fts5(title, content=note, content_rowid='id')", "note"),
        ("CREATE VIRTUAL TABLE f USING fts4(content=[my notes], title)", "my notes"),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content_rowid = id, content='n')", "n"),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='it''s')", "it's"),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content=\"a\"\"b\")", "a\"b"),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content=[a]]b])", "a"),
        ("CREATE VIRTUAL TABLE f USING fts5(content='', content='n')", "n"),
        // Without rows of its own, or only a column of that name.
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='')", nil),
        ("CREATE VIRTUAL TABLE f USING fts5(content, tokenize='porter')", nil),
        ("CREATE VIRTUAL TABLE f USING fts5(mycontent='x')", nil),
        ("CREATE VIRTUAL TABLE f USING rtree(id, a, b)", nil),
        ("", nil), ("content", nil), ("content=", nil), ("content='", nil),
    ])
    func table(_ definition: String, _ name: String?) {
        #expect(FullTextContent.table(in: definition) == name)
    }
}
