import PostgresWire
import SQLite

/// Rows of catalogs as the protocol has them. Arrays are JSON on SQLite's side.
struct CatalogEncoder {
    private let columns: [Analysis.Column]
    let types: [TypeOID]
    private let formats: [Format]

    init(_ analysis: Analysis, formats: [Format], allText: Bool) {
        columns = analysis.columns
        types = columns.map { column in
            if case .fixed(let type) = column.type, !allText { type } else { .text }
        }
        self.formats = columns.indices.map { formats.format(at: $0) }
    }

    func describe(to out: OutputBuffer) {
        out.rowDescription(
            columns.indices.map {
                FieldDescription(
                    name: columns[$0].name, tableOID: 0, attributeNumber: 0, type: types[$0], typeModifier: -1,
                    format: formats[$0])
            })
    }

    func encode(_ statement: Statement, to out: OutputBuffer) throws(WireError) {
        let start = out.end
        let mark = out.beginDataRow(columns: columns.count)
        for column in columns.indices {
            if statement.storageClass(column) == .null {
                out.fieldNull()
            } else if formats[column] == .binary {
                do throws(WireError) { try encodeBinary(statement, column, to: out) } catch {
                    // Half a row must never be sent.
                    out.truncate(toEnd: start)
                    throw error
                }
            } else {
                out.fieldText(text(statement, column))
            }
        }
        guard out.endDataRow(mark) else {
            throw .rowDoesNotFit(lacksMemory: out.hasLackedMemory)
        }
    }

    private func text(_ statement: Statement, _ column: Int) -> String {
        let text = String(decoding: statement.text(column), as: UTF8.self)
        if types[column] == .bool { return text == "1" || text == "t" ? "t" : "f" }
        guard let element = Self.element(of: types[column]), let elements = CatalogArrays.elements(text) else { return text }
        return Self.literal(elements, element)
    }

    /// The element's type of an array; nil for a scalar and for vectors, whose text is plain.
    private static func element(of type: TypeOID) -> TypeOID? {
        guard type != .int2vector, type != .oidvector else { return nil }
        return CatalogTypes.entries.first { $0.oid == Int(type.rawValue) && $0.element != 0 && $0.name.hasPrefix("_") }
            .map { TypeOID(rawValue: UInt32($0.element)) }
    }

    /// `{a,"b c",NULL}`, https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
    static func literal(_ elements: [String?], _ type: TypeOID) -> String {
        let texts = elements.map { element -> String in
            guard let element else { return "NULL" }
            if type == .bool { return element == "1" ? "t" : "f" }
            let isPlain =
                !element.isEmpty && element.lowercased() != "null"
                && !element.unicodeScalars.contains { "{},\"\\".unicodeScalars.contains($0) || $0.properties.isWhitespace }
            if isPlain { return element }
            var quoted = "\"".unicodeScalars
            for scalar in element.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
                quoted.append(scalar)
            }
            quoted.append("\"")
            return String(quoted)
        }
        return "{" + texts.joined(separator: ",") + "}"
    }

    // MARK: Binary, which asyncpg asks for

    private func encodeBinary(_ statement: Statement, _ column: Int, to out: OutputBuffer) throws(WireError) {
        if let element = Self.element(of: types[column]) {
            guard let elements = CatalogArrays.elements(String(decoding: statement.text(column), as: UTF8.self)) else {
                throw Self.misfit(columns[column].name)
            }
            var bytes = try Self.array(elements, element, columns[column].name)
            bytes.withUnsafeMutableBytes { out.fieldText(UnsafeRawBufferPointer($0)) }
            return
        }
        var bytes = try Self.binary(text(statement, column), types[column], columns[column].name)
        bytes.withUnsafeMutableBytes { out.fieldText(UnsafeRawBufferPointer($0)) }
    }

    /// Dimensions, whether there are NULLs, the element's type; length and lower bound; each element with its length.
    private static func array(_ elements: [String?], _ type: TypeOID, _ column: String) throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        append(elements.isEmpty ? 0 : 1, to: &bytes)
        append(elements.contains { $0 == nil } ? 1 : 0, to: &bytes)
        append(Int32(bitPattern: type.rawValue), to: &bytes)
        if elements.isEmpty { return bytes }
        append(Int32(elements.count), to: &bytes)
        append(1, to: &bytes)
        for element in elements {
            guard let element else {
                append(-1, to: &bytes)
                continue
            }
            let value = try binary(type == .bool ? (element == "1" ? "t" : "f") : element, type, column)
            append(Int32(value.count), to: &bytes)
            bytes += value
        }
        return bytes
    }

    private static func append(_ value: Int32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func binary(_ text: String, _ type: TypeOID, _ column: String) throws(WireError) -> [UInt8] {
        if type == .int2vector || type == .oidvector {
            var bytes = try array(text.split(separator: " ").map(String.init), type == .oidvector ? .oid : .int2, column)
            // A vector's first subscript is 0.
            if bytes.count >= 20 { bytes.replaceSubrange(16..<20, with: [0, 0, 0, 0]) }
            return bytes
        }
        guard let bytes = CatalogBinary.bytes(text, type) else { throw misfit(column) }
        return bytes
    }

    private static func misfit(_ column: String) -> WireError {
        WireError(state: .datatypeMismatch, message: "column \"\(column)\" of a catalog has no binary form here")
    }
}
