import Pool
import PostgresWire
import SQLite

/// What is done to a real file.
extension MicroPath {
    static let storage = [
        MicroPath("snapshot-check", 200_000, "WALIndex: 48 bytes compared: is the snapshot still the newest?") { count in
            let file = try ScratchDatabase()
            let connection = file.pool.writer.connection
            try connection.executeInternal("SELECT * FROM item LIMIT 1")
            guard let index = connection.walIndex() else { return 0 }
            let header = index.copyHeader()
            var equal = 0
            for _ in 0..<count where index.matches(header) { equal &+= 1 }
            return equal
        },
        MicroPath("reader-checkout", 50_000, "Pool: a reader with the newest snapshot, and back") { count in
            let file = try ScratchDatabase()
            var sum = 0
            for _ in 0..<count { sum &+= try file.reading { $0.index &+ 1 } }
            return sum
        },
        MicroPath("snapshot-renewal", 5_000, "Reader: the snapshot ended and begun again, as after a commit") { count in
            let file = try ScratchDatabase()
            var sum = 0
            for _ in 0..<count {
                sum &+= try file.reading { reader in
                    reader.endSnapshot()
                    return reader.index &+ 1
                }
            }
            return sum
        },
        MicroPath("statement-cache", 50_000, "PooledConnection: a prepared statement out of 64 taken and given back") { count in
            let file = try ScratchDatabase()
            let texts = (0..<64).map { sqlText("SELECT name FROM item WHERE id = ?1 + \($0)") }
            return try file.reading { reader in
                for text in texts { reader.giveBack(try reader.statement(for: text)) }
                var sum = 0
                for number in 0..<count {
                    let lease = try reader.statement(for: texts[number & 63])
                    sum &+= lease.statement.parameterCount
                    reader.giveBack(lease)
                }
                return sum
            }
        },
        MicroPath("select", 20_000, "the whole read without a session: reader, statement, bind, step, DataRow, back") { count in
            let file = try ScratchDatabase()
            let sql = sqlText("SELECT price FROM item WHERE id = ?1")
            let out = OutputBuffer()
            var bytes = 0
            for number in 0..<count {
                try file.reading { reader in
                    let lease = try reader.statement(for: sql)
                    try lease.statement.bind(Int64(number % ScratchDatabase.rows + 1), at: 1)
                    while try lease.statement.step() == .row {
                        let mark = out.beginDataRow(columns: 1)
                        out.fieldIntegerText(lease.statement.integer(0))
                        _ = out.endDataRow(mark)
                    }
                    reader.giveBack(lease)
                }
                bytes &+= out.count
                out.consume(out.count)
            }
            return bytes
        },
        MicroPath("group-insert", 12_800, "one of 64 inserts, committed as 1 and 63: queue, BEGIN, COMMIT, release") { count in
            let file = try ScratchDatabase()
            let sql = sqlText("INSERT INTO item (name, price) VALUES ('a name', ?1)")
            let members: [any GroupMember] = (0..<64).map { Inserter($0, sql) }
            var inserted = 0
            for _ in 0..<(count / 64) {
                // The first is granted the writer at once; the others gather while it commits.
                for member in members { _ = file.pool.requestWriter(member, .member, deadline: .distantFuture) }
                inserted &+= file.pool.commitGroup([members[0]]).count
                guard case .group(let rest) = file.pool.releaseWriter() else { continue }
                inserted &+= file.pool.commitGroup(rest).count
                _ = file.pool.releaseWriter()
            }
            return inserted
        },
    ]

    private static func sqlText(_ text: String) -> SQLText {
        var text = text
        return text.withUTF8 { SQLText(copying: UnsafeRawBufferPointer($0)) }
    }
}
