/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?

    package init() {}

    /// More than any definition takes in memory for a byte of its text; the most that was seen is 54, of `CHECK (1 IN (1,1,1,…))`.
    static let bytesPerByteOfText = 200

    /// A definition of this length is about to run.
    ///
    /// - Parameter measured: looks what the schema takes now.
    /// - Returns: what it takes, where the definition might make that more than `limitBytes`; nil where it cannot.
    package mutating func bytesBefore(textBytes: Int, limitBytes: Int, measured: () -> Int) -> Int? {
        let added = textBytes.multipliedReportingOverflow(by: Self.bytesPerByteOfText)
        guard !added.overflow else { return measured() }
        var known: Int?
        if atMostBytes == nil || atMostBytes! > limitBytes - added.partialValue {
            known = measured()
            atMostBytes = known
        }
        atMostBytes! += added.partialValue
        return atMostBytes! > limitBytes ? known ?? measured() : nil
    }
}
