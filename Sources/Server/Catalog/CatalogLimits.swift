/// The bounds of what one statement about the catalogs may take, each with its reason: nothing of it is in the user's file, so SQLite's
/// own limits do not count it. The thresholds of one algorithm stay with it.
enum CatalogLimits {
    /// To translate a text takes hundreds of times its memory, and nobody can stop that. Five thousand names in a list fit, which is more
    /// than any tool asks for at once; psql's longest question has 5 KB.
    static let statementBytes = 128 << 10
    /// Of parentheses in parentheses, and casts of casts. Deeper statements are nobody's question to a catalog.
    static let depth = 64
    /// The most that is sent of one answer; a schema of a hundred thousand columns takes about as much.
    static let answerBytes = 64 << 20
    /// What one aggregate keeps until it is done: as many rows as that schema has columns.
    static let aggregatedRows = 100_000
    /// Numbers in one series. Catalogs number columns with it, and a table has 32,767 at most, as SQLite may be built:
    /// https://www.sqlite.org/limits.html#max_column
    static let seriesNumbers = 65_536

    // MARK: Patterns

    /// A name with some signs around it is shorter.
    static let patternBytes = 1_000
    /// Of letters and all their copies: some 800 bytes each.
    static let patternCopies = 20_000
    /// Names are shorter. A match may take the square of it, and nothing stops one: 100,000 bytes were half a minute.
    static let matchedBytes = 4_000
    /// Of a text's length and its LIKE pattern's: a tenth of a second or two.
    static let likeComparisons = 10_000_000
    /// The text is taken apart into characters first, which have 16 bytes each.
    static let likedBytes = 1_000_000

    // MARK: Functions in FROM (LateralColumns)

    /// Each name is replaced by what it stands for, so a text of many names becomes longer by as much, and those in a subquery's
    /// expressions once more for each query around it.
    static let lateralFunctions = 8, lateralColumns = 8, lateralBytes = 300, selectBytes = 1_000_000
    /// Nodes of the arguments of functions that return sets, all together: each is in the result twice, and four times in the arguments of
    /// another one. What tools ask for so is a column.
    static let copiedNodes = 10_000
    /// As SQLite has it for a result: https://www.sqlite.org/limits.html#max_column
    static let selectList = 2_000

    // MARK: Private connections

    /// Those that are kept while nobody asks: each holds the whole catalog. A client that asks while they are in use gets one that is
    /// thrown away afterwards.
    static let idleConnections = 2
    /// Statements that clients ask catalogs again and again, of each.
    static let statementsPerConnection = 64
}
