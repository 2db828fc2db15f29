import Testing

@testable import Pool

@Suite struct FullTextContentTests {
    @Test(arguments: [
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='Note')", ["note"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content = \"note\", content_rowid = id)", ["note", " \"note\""]),
        ("create virtual table f using fts5(title, content=note, content_rowid='id')", ["note"]),
        ("CREATE VIRTUAL TABLE f USING fts4(content=[my notes], title)", ["my notes"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content_rowid = id, content='n')", ["n"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='it''s')", ["it's"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content=\"a\"\"b\")", ["a\"b"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='a,b)')", ["a,b)"]),
        ("CREATE VIRTUAL TABLE f USING fts5(a, /* it's (not) here, */ content='n')", ["n"]),
        ("CREATE VIRTUAL TABLE f USING fts5(a, -- it's in\n content='n' /* so */)", ["n"]),
        ("CREATE VIRTUAL TABLE f USING fts5(a, content='/*n--')", ["/*n--"]),
        // FTS5 takes any beginning of the name, and every byte that is none of ASCII's as a letter.
        ("CREATE VIRTUAL TABLE f USING fts5(title, cont = n)", ["n", " n"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, c='n', tokenize='porter ascii')", ["n"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content=😀)", ["😀"]),
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='\u{301}n')", ["\u{301}n"]),
        // FTS4 takes everything up to the comma, and the last of several.
        ("CREATE VIRTUAL TABLE f USING fts4(title, content=n-m)", ["n-m"]),
        ("CREATE VIRTUAL TABLE f USING fts4(title, content=my n)", ["my n"]),
        // And what is before the value, and comments in it, as they stand.
        ("CREATE VIRTUAL TABLE f USING fts4(title, content= n)", ["n", " n"]),
        ("CREATE VIRTUAL TABLE f USING fts4(title, content=n/*x*/m)", ["n     m", "n/*x*/m"]),
        ("CREATE VIRTUAL TABLE f USING fts4(title, content='zz', content='n')", ["n", "zz"]),
        ("CREATE VIRTUAL TABLE f USING fts5(content='', content='n')", ["n"]),
        // Without rows of its own, or only a column of that name.
        ("CREATE VIRTUAL TABLE f USING fts5(title, content='')", []),
        ("CREATE VIRTUAL TABLE f USING fts5(content, tokenize='porter')", []),
        ("CREATE VIRTUAL TABLE f USING fts5(mycontent='x', contents='y')", []),
        ("CREATE VIRTUAL TABLE \"a(content=b\" USING fts5(c)", []),
        ("CREATE VIRTUAL TABLE f USING rtree(id, a, b)", []),
        ("", []), ("content", []), ("(content=", []), ("(content='", []), ("(content=''", []), ("(content='a", []), ("(", []), (")(,", []),
        ("(content=n/*", ["n"]), ("(--", []), ("(/*/", []),
    ])
    func tables(_ definition: String, _ names: [String]) {
        #expect(FullTextContent.tables(in: definition) == Set(names.map { Array($0.utf8) }))
    }

    @Test(arguments: [
        ("SELECT rowid AS Rid, a.b FROM note", ["select", "rowid", "as", "rid", "a", "b", "from", "note"]),
        ("\"it\"\"s\"'x''y'`z`[q]x", ["it\"s", "x'y", "z", "q", "x"]),
        ("-- it's\n a/* \" */b 'c'", ["a", "b", "c"]),
        ("é$_1", ["é$_1"]), ("", []), ("'", [""]), ("[", [""]), ("/*", []), ("--", []),
    ])
    func names(_ sql: String, _ names: [String]) {
        #expect(FullTextContent.names(in: sql) == Set(names.map { Array($0.utf8) }))
    }
}
