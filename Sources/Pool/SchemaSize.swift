import SQLite

/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?
    /// What the columns of views and virtual tables take at most, which SQLite keeps from when somebody asks for them until the schema is
    /// read again, as after each definition that was undone: so what is measured has them sometimes. nil: nobody has counted.
    private var columnsAtMostBytes: Int?
    /// Somebody has tried to count them, and had no time.
    private var isUncountable = false

    package init() {}

    /// What the schema itself may be measured with beside its limit.
    package var columnBytes: Int { columnsAtMostBytes ?? 0 }

    /// More than any definition takes in memory for a byte of its text, but for those whose `textBytes` is nil; the most that was seen is
    /// 54, of `CHECK (1 IN (1,1,1,…))`.
    static let bytesPerByteOfText = 200
    /// And besides, whatever its text is: an index of a table without rowids has its key, of up to 2,000 columns, too, with 30 kB.
    static let bytesPerDefinition = 64 << 10

    /// "Maximum Number Of Tables In A Join" (https://www.sqlite.org/limits.html). Each may be the same one.
    private static let tablesInJoin = 64

    /// A definition is about to run.
    ///
    /// - Parameters:
    ///   - textBytes: its length; nil: what it adds, its text does not say (RENAME writes a name wherever it is mentioned,
    ///     `CREATE TABLE … AS SELECT *` has another table's columns, each UNIQUE of a table without rowids all of its key's).
    ///   - measured: looks what the schema takes now.
    /// - Returns: what it takes, where the definition might make that more than `limitBytes`; nil where it cannot.
    package mutating func bytesBefore(textBytes: Int?, limitBytes: Int, measured: () -> Int) -> Int? {
        guard let textBytes, textBytes < limitBytes / Self.bytesPerByteOfText else {
            atMostBytes = nil
            return measured()
        }
        let added = textBytes * Self.bytesPerByteOfText + Self.bytesPerDefinition
        if let known = atMostBytes, known + added <= limitBytes {
            atMostBytes = known + added
            return nil
        }
        let bytes = measured()
        atMostBytes = bytes + added
        return bytes + added > limitBytes ? bytes : nil
    }

    /// A view or a virtual table has got columns, which SQLite keeps beside its definition.
    ///
    /// - Parameters:
    ///   - columnBytes: what these take.
    ///   - counted: counts those of all; nil: there is no time for that.
    /// - Returns: whether they take more than `limitBytes` together, which is for columns alone.
    package mutating func isFull<Failure>(
        withColumnBytes columnBytes: Int, limitBytes: Int, counted: () throws(Failure) -> Int?
    ) throws(Failure) -> Bool {
        if let known = columnsAtMostBytes, known + columnBytes <= limitBytes {
            columnsAtMostBytes = known + columnBytes
            return false
        }
        guard let bytes = try counted() else {
            isUncountable = true
            return columnsAtMostBytes != nil
        }
        isUncountable = false
        columnsAtMostBytes = bytes
        return bytes > limitBytes
    }

    /// A table was made or altered, and views of it have its columns, too. What they get is at most what all of them would have of a
    /// definition of so many bytes and columns; nil: what columns it has, its text does not say.
    ///
    /// Where they cannot be counted in time, and nothing is known of them, that is not tried for each table.
    package mutating func isFull<Failure>(
        withViews views: Int, ofTable text: (bytes: Int, columns: Int)?, limitBytes: Int, counted: () throws(Failure) -> Int?
    ) throws(Failure) -> Bool {
        guard views > 0, columnsAtMostBytes != nil || !isUncountable else { return false }
        let each = text.map { $0.bytes + $0.columns * Connection.bytesBesideColumnTexts }
        let columnBytes = each.map { views * Self.tablesInJoin * $0 } ?? limitBytes + 1
        return try isFull(withColumnBytes: columnBytes, limitBytes: limitBytes, counted: counted)
    }

}
