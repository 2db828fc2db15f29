/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?
    /// What the columns of views and virtual tables take at most, which SQLite keeps from when somebody asks for them until the schema is
    /// read again, as after each definition that was undone: so what is measured has them sometimes. nil: nobody has counted.
    private var columnsAtMostBytes: Int?

    package init() {}

    /// More than any definition takes in memory for a byte of its text, but for those whose `textBytes` is nil; the most that was seen is
    /// 54, of `CHECK (1 IN (1,1,1,…))`.
    static let bytesPerByteOfText = 200
    /// And besides, whatever its text is: an index of a table without rowids has its key, of up to 2,000 columns, too, with 30 kB.
    static let bytesPerDefinition = 64 << 10

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
        guard let bytes = try counted() else { return columnsAtMostBytes != nil }
        columnsAtMostBytes = bytes
        return bytes > limitBytes
    }
}
