/// What memory the schema takes, without a walk through it for each definition: with ten thousand tables that takes 40 ms.
package struct SchemaSize: Sendable {
    /// What it takes at most; nil: nobody has looked.
    private var atMostBytes: Int?
    /// What the columns of views and virtual tables take at most, which SQLite keeps from when somebody asks for them until the schema is
    /// read again, as after each definition that was undone: so a measurement of the schema includes them or
    /// not, by what was asked before. nil: nobody has counted.
    private var columnsAtMostBytes: Int?
    /// The most of it that was known before a count found less, which a rollback may bring back.
    private var columnsBeforeBytes = 0
    /// Views of what is not there, which get columns when it comes. nil: nobody has counted, or something was dropped since.
    private var waitingViews: Int?
    /// Somebody has tried to count them, and had no time.
    private var isUncountable = false

    package init() {}

    /// What the schema itself may be measured with beside its limit.
    package var columnBytes: Int { columnsAtMostBytes ?? 0 }

    /// Something was dropped: views of it wait for another.
    package mutating func loses() { waitingViews = nil }

    /// Definitions were rolled back, and what was dropped before is there again; or another process has made some. What is known of columns
    /// counts where they cannot be counted again.
    package mutating func forget() {
        (atMostBytes, waitingViews) = (nil, nil)
        columnsAtMostBytes = columnsAtMostBytes.map { max($0, columnsBeforeBytes) }
        columnsBeforeBytes = 0
    }

    /// Definitions were committed: what was counted before them does not come back.
    package mutating func settle() { columnsBeforeBytes = 0 }

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

    /// What may give columns to views and virtual tables.
    package enum Columns {
        /// One was made, with so much of them; nil: it waits for what is not there.
        case made(bytes: Int?)
        /// A table was made, for which views may wait, and others for those.
        case table
        /// A table was altered, which any view may be of.
        case altered
    }

    /// What was found by counting them.
    package struct Count {
        package var bytes: Int
        package var waitingViews: Int
        package init(bytes: Int, waitingViews: Int) { (self.bytes, self.waitingViews) = (bytes, waitingViews) }
    }

    /// A definition has run.
    ///
    /// - Parameter counted: counts the columns of all; nil: there is no time for that. Then a table is not refused, and none that comes
    ///   after it is counted.
    /// - Returns: whether they take more than `limitBytes` together, which is for columns alone.
    package mutating func isFull<Failure>(
        with columns: Columns, limitBytes: Int, counted: () throws(Failure) -> Count?
    ) throws(Failure) -> Bool {
        let added = added(columns)
        if case .made(nil) = columns { waitingViews = waitingViews.map { $0 + 1 } }
        if added == 0 { return false }
        if let added, let known = columnsAtMostBytes, known + added <= limitBytes {
            columnsAtMostBytes = known + added
            return false
        }
        let isOfTable = if case .made = columns { false } else { true }
        guard !isOfTable || !isUncountable else { return false }
        guard let count = try counted() else {
            isUncountable = true
            // Of a view is known what it adds, and it counts as those that come after it.
            guard let added = self.added(columns), let known = columnsAtMostBytes else { return false }
            guard known + added <= limitBytes else { return true }
            columnsAtMostBytes = known + added
            return false
        }
        isUncountable = false
        columnsBeforeBytes = max(columnsBeforeBytes, columnsAtMostBytes ?? 0)
        (columnsAtMostBytes, waitingViews) = (count.bytes, count.waitingViews)
        return count.bytes > limitBytes
    }

    /// nil: that is not known.
    private func added(_ columns: Columns) -> Int? {
        switch columns {
        case .made(let bytes?): waitingViews == 0 || isUncountable ? bytes : nil
        case .made(nil): 0
        case .table: waitingViews == 0 ? 0 : nil
        case .altered: nil
        }
    }
}
