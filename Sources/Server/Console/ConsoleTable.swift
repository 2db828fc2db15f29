import PostgresWire

/// A small result of the console's: columns and rows.
struct ConsoleTable {
    enum Value: Equatable, ExpressibleByStringLiteral {
        case text(String)
        case integer(Int64)
        case null

        init(stringLiteral value: String) { self = .text(value) }
        init(_ value: Int) { self = .integer(Int64(value)) }
        init(_ value: Int64) { self = .integer(value) }
        init(_ value: String?) { self = value.map { .text($0) } ?? .null }
        init(_ value: Bool) { self = .text(value ? "yes" : "no") }

        /// For a column in which texts and numbers meet.
        var asText: Value { if case .integer(let number) = self { .text(String(number)) } else { self } }
    }

    struct Column: Sendable {
        let name: String
        let type: TypeOID
    }

    let topic: ConsoleTopic
    private(set) var rows: [[Value]] = []

    init(_ topic: ConsoleTopic) { self.topic = topic }

    /// A row with as many values as the topic has columns.
    mutating func append(_ row: [Value]) {
        precondition(row.count == topic.columns.count)
        rows.append(row)
    }

    static func describe(_ topic: ConsoleTopic, formats: [Format], to out: OutputBuffer) {
        out.rowDescription(
            topic.columns.enumerated().map { index, column in
                FieldDescription(name: column.name, type: column.type, format: formats.format(at: index))
            })
    }

    func send(formats: [Format], to out: OutputBuffer) {
        for row in rows {
            let mark = out.beginDataRow(columns: row.count)
            for (index, value) in row.enumerated() { Self.send(value, formats.format(at: index), to: out) }
            _ = out.endDataRow(mark)
        }
    }

    private static func send(_ value: Value, _ format: Format, to out: OutputBuffer) {
        switch value {
        case .null: out.fieldNull()
        case .integer(let number) where format == .binary: out.fieldBinary(number)
        case .integer(let number): out.fieldText(String(number))
        case .text(let text): out.fieldText(text)
        }
    }
}
