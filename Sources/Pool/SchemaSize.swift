/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?

    package init() {}

    /// More than any definition takes in memory for a byte of its text; the most that was seen is 54, of `CHECK (1 IN (1,1,1,…))`.
    static let bytesPerByteOfText = 200
    /// And besides, whatever its text is: an index of a table without rowids has its key, of up to 2,000 columns, too, with 30 kB.
    static let bytesPerDefinition = 64 << 10

    /// A definition is about to run.
    ///
    /// - Parameters:
    ///   - textBytes: its length; nil: what it adds, its text does not say (RENAME writes a name wherever it is mentioned,
    ///     `CREATE TABLE … AS SELECT *` has another table's columns).
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

    /// A view has got columns, which SQLite keeps beside its definition.
    ///
    /// - Returns: what the schema takes with them, where they might make that more than `limitBytes`.
    package mutating func bytesWith(columnBytes: Int, limitBytes: Int, measured: () -> Int) -> Int? {
        if let known = atMostBytes, known + columnBytes <= limitBytes {
            atMostBytes = known + columnBytes
            return nil
        }
        let bytes = measured()
        atMostBytes = bytes
        return bytes
    }
}
