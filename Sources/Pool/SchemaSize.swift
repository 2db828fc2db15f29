/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?

    package init() {}

    /// More than any definition takes in memory for a byte of its text; the most that was seen is 54, of `CHECK (1 IN (1,1,1,…))`.
    static let bytesPerByteOfText = 200

    /// A definition is about to run.
    ///
    /// - Parameters:
    ///   - textBytes: its length; nil: what it adds, its text does not say (RENAME writes a name wherever it is mentioned).
    ///   - measured: looks what the schema takes now.
    /// - Returns: what it takes, where the definition might make that more than `limitBytes`; nil where it cannot.
    package mutating func bytesBefore(textBytes: Int?, limitBytes: Int, measured: () -> Int) -> Int? {
        guard let textBytes, textBytes < limitBytes / Self.bytesPerByteOfText else {
            atMostBytes = nil
            return measured()
        }
        let added = textBytes * Self.bytesPerByteOfText
        if let known = atMostBytes, known + added <= limitBytes {
            atMostBytes = known + added
            return nil
        }
        let bytes = measured()
        atMostBytes = bytes + added
        return bytes + added > limitBytes ? bytes : nil
    }
}
