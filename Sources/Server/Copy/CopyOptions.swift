import PostgresWire

/// What the options of a COPY come to, checked by PostgreSQL's rules (ProcessCopyOptions in src/backend/commands/copy.c).
struct CopyOptions: Equatable {
    enum Format: Equatable { case text, csv, binary }
    enum Header: Equatable { case none, present, match }

    var format = Format.text
    var delimiter = UInt8(ascii: "\t")
    var null = Array("\\N".utf8)
    var header = Header.none
    var quote = UInt8(ascii: "\"")
    var escape = UInt8(ascii: "\"")
    var forceQuote = Columns.none
    var forceNotNull = Columns.none
    var forceNull = Columns.none
    /// Ours: commit every so many rows.
    var batchRows: Int?

    var wireFormat: PostgresWire.Format { format == .binary ? .binary : .text }

    init(_ statement: CopyStatement) throws(WireError) {
        var values: [String: CopyStatement.Option.Value] = [:]
        // In the order they were written in: of several that are wrong, the first is complained of.
        for option in statement.options {
            guard values.updateValue(option.value, forKey: option.name) == nil else {
                throw Self.syntax("conflicting or redundant options: \"\(option.name)\"")
            }
            try take(option.name, option.value, isInput: statement.isInput)
        }
        // Of these it matters what the others are.
        try takeSeparators(values)
        try takeQuotes(values)
        try checkColumns(values, isInput: statement.isInput)
        try checkNull()
    }

    private mutating func take(
        _ name: String, _ value: CopyStatement.Option.Value, isInput: Bool
    ) throws(WireError) {
        switch name {
        case "format": try takeFormat(value)
        case "delimiter", "null", "quote", "escape": _ = try Self.text(name, value)
        case "header": try takeHeader(value, isInput: isInput)
        case "freeze": _ = try Self.boolean(name, value)
        case "encoding":
            let encoding = try Self.text(name, value).uppercased().filter { $0.isLetter || $0.isNumber }
            guard ["UTF8", "UNICODE", "SQLASCII"].contains(encoding) else {
                throw WireError(
                    state: .featureNotSupported, message: "COPY in another encoding than UTF8 is not supported",
                    hint: "Convert the file first: iconv -f LATIN1 -t UTF-8.")
            }
        case "force_quote": forceQuote = try Self.columns(name, value)
        case "force_not_null": forceNotNull = try Self.columns(name, value)
        case "force_null": forceNull = try Self.columns(name, value)
        case "batch":
            try Self.require(isInput, "COPY batch only available using COPY FROM")
            guard let rows = Int(try Self.text(name, value)), rows > 0 else {
                throw WireError(state: .invalidParameterValue, message: "batch requires a number of rows above zero")
            }
            batchRows = rows
        case "where":
            throw WireError(
                state: .featureNotSupported, message: "COPY FROM ... WHERE is not supported",
                hint: "Copy into another table and INSERT ... SELECT from it, or let a trigger RAISE(IGNORE).")
        case "oids", "on_error", "default", "log_verbosity", "reject_limit":
            throw WireError(state: .featureNotSupported, message: "COPY option \"\(name)\" is not supported")
        default: throw Self.syntax("option \"\(name)\" not recognized")
        }
    }

    private mutating func takeFormat(_ value: CopyStatement.Option.Value) throws(WireError) {
        switch try Self.text("format", value).lowercased() {
        case "text": format = .text
        case "csv": format = .csv
        case "binary": format = .binary
        case let other:
            throw WireError(state: .invalidParameterValue, message: "COPY format \"\(other)\" not recognized")
        }
    }

    private mutating func takeHeader(_ value: CopyStatement.Option.Value, isInput: Bool) throws(WireError) {
        if case .text(let word) = value, word.lowercased() == "match" {
            try Self.require(isInput, "cannot use \"match\" with HEADER in COPY TO")
            header = .match
        } else {
            header = try Self.boolean("header", value) ? .present : .none
        }
    }

    // MARK: What matters to the others

    private mutating func takeSeparators(_ values: [String: CopyStatement.Option.Value]) throws(WireError) {
        if format == .binary {
            for name in ["delimiter", "null"] where values[name] != nil {
                throw Self.syntax("cannot specify \(name.uppercased()) in BINARY mode")
            }
        }
        if format == .csv { (delimiter, null) = (UInt8(ascii: ","), []) }
        if let value = values["delimiter"] { delimiter = try Self.byte("delimiter", value) }
        if let value = values["null"] { null = Array(try Self.text("null", value).utf8) }
        if Self.lineEnds.contains(delimiter) { throw Self.invalid("COPY delimiter cannot be newline or carriage return") }
        if null.contains(where: Self.lineEnds.contains) {
            throw Self.invalid("COPY null representation cannot use newline or carriage return")
        }
        // They would be mistaken for escapes, as `\N` and `\.` are.
        if format == .text, "\\.abcdefghijklmnopqrstuvwxyz0123456789".utf8.contains(delimiter) {
            throw Self.invalid("COPY delimiter cannot be \"\(Character(Unicode.Scalar(delimiter)))\"")
        }
        if format == .binary { try Self.require(header == .none, "cannot specify HEADER in BINARY mode") }
    }

    private mutating func takeQuotes(_ values: [String: CopyStatement.Option.Value]) throws(WireError) {
        if let value = values["quote"] {
            try requireCSV("quote")
            quote = try Self.byte("quote", value)
        }
        if format == .csv, delimiter == quote { throw Self.invalid("COPY delimiter and quote must be different") }
        escape = quote
        if let value = values["escape"] {
            try requireCSV("escape")
            escape = try Self.byte("escape", value)
        }
        if format == .csv, Self.lineEnds.contains(quote) || Self.lineEnds.contains(escape) {
            throw Self.invalid("COPY quote and escape cannot be newline or carriage return")
        }
    }

    private func checkColumns(_ values: [String: CopyStatement.Option.Value], isInput: Bool) throws(WireError) {
        for (name, isOfInput) in [("force_quote", false), ("force_not_null", true), ("force_null", true)] where values[name] != nil {
            try requireCSV(name)
            let command = isOfInput ? "COPY FROM" : "COPY TO"
            try Self.require(isInput == isOfInput, "COPY \(name.replacingUnderscores) only available using \(command)")
        }
    }

    private func checkNull() throws(WireError) {
        if format != .binary, null.contains(delimiter) {
            throw Self.invalid("COPY delimiter must not appear in the NULL specification")
        }
        if format == .csv, null.contains(quote) {
            throw Self.invalid("CSV quote character must not appear in the NULL specification")
        }
    }

    private func requireCSV(_ name: String) throws(WireError) {
        try Self.require(format == .csv, "COPY \(name.replacingUnderscores) available only in CSV mode")
    }

    private static let lineEnds: [UInt8] = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]

    // MARK: Values

    private static func text(_ name: String, _ value: CopyStatement.Option.Value) throws(WireError) -> String {
        guard case .text(let text) = value else { throw syntax("\(name) requires a parameter") }
        return text
    }

    private static func byte(_ name: String, _ value: CopyStatement.Option.Value) throws(WireError) -> UInt8 {
        let text = try text(name, value)
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0 else {
            throw WireError(
                state: .featureNotSupported, message: "COPY \(name) must be a single one-byte character")
        }
        return byte
    }

    private static func boolean(_ name: String, _ value: CopyStatement.Option.Value) throws(WireError) -> Bool {
        if value == .none { return true }
        return try Settings.boolean(name, try text(name, value))
    }

    private static func columns(_ name: String, _ value: CopyStatement.Option.Value) throws(WireError) -> Columns {
        switch value {
        case .all: return .all
        case .columns(let names): return .named(names)
        default: throw invalid("argument to option \"\(name)\" must be a list of column names")
        }
    }

    private static func require(_ condition: Bool, _ message: String) throws(WireError) {
        if !condition { throw WireError(state: .featureNotSupported, message: message) }
    }

    private static func syntax(_ message: String) -> WireError { WireError(state: .syntaxError, message: message) }
    private static func invalid(_ message: String) -> WireError {
        WireError(state: .invalidParameterValue, message: message)
    }
}

extension String {
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
