import SQLite

/// What an aggregate has kept.
private struct AggregateSize {
    private var rows = 0
    private var bytes = 0
    private let memory = CountedMemory()
    /// Of a row, beside its texts: three of Swift's strings.
    private static let rowBytes = 3 * MemoryLayout<String>.stride

    /// False, with the error set: its rows would be too many, or together longer than a value may be.
    mutating func takes(_ call: FunctionCall) -> Bool {
        for index in 0..<call.count where !call.isNull(index) { bytes += call.bytes(index).count }
        rows += 1
        if rows > CatalogLimits.aggregatedRows { call.fail("there are too many rows for a catalog statement") }
        return rows <= CatalogLimits.aggregatedRows && call.allows(length: bytes)
            && memory.grow(to: bytes + rows * Self.rowBytes, call)
    }
}

/// array_agg(x), and array_agg(x, key) for array_agg(x ORDER BY key).
final class ArrayAggregate: AggregateState {
    private var rows: [(element: String?, key: String)] = []
    private var size = AggregateSize()

    func add(_ call: FunctionCall) {
        guard size.takes(call) else { return }
        rows.append((call.isNull(0) ? nil : call.text(0), call.count > 1 ? call.text(1) : ""))
    }

    func finish(_ call: FunctionCall) {
        let ordered = rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }
        call.answer(CatalogArrays.json(ordered.map(\.element.element)))
    }
}

/// json_agg(x), and json_agg(x, key): the first argument says whether x is JSON already, or a boolean.
/// https://www.postgresql.org/docs/15/functions-aggregate.html
final class JSONAggregate: AggregateState {
    private var rows: [(text: String, key: String)] = []
    private var size = AggregateSize()

    func add(_ call: FunctionCall) {
        guard size.takes(call) else { return }
        rows.append((Self.json(call), call.count > 2 ? call.text(2) : ""))
    }

    private static func json(_ call: FunctionCall) -> String {
        if call.isNull(1) { return "null" }
        if call.text(0) == "bool" { return call.integer(1) != 0 ? "true" : "false" }
        if call.storageClass(1) != .text || call.text(0).hasPrefix("json") { return call.text(1) }
        return CatalogArrays.quoted(call.text(1))
    }

    func finish(_ call: FunctionCall) {
        let ordered = rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }
        call.answer(rows.isEmpty ? nil : "[" + ordered.map(\.element.text).joined(separator: ", ") + "]")
    }
}

/// string_agg(x, separator ORDER BY key)
final class OrderedStringAggregate: AggregateState {
    private var rows: [(text: String, separator: String, key: String)] = []
    private var size = AggregateSize()

    func add(_ call: FunctionCall) {
        guard size.takes(call) else { return }
        if !call.isNull(0) { rows.append((call.text(0), call.isNull(1) ? "" : call.text(1), call.text(2))) }
    }

    func finish(_ call: FunctionCall) {
        let ordered = rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }
        call.answer(rows.isEmpty ? nil : ordered.map(\.element.text).joined(separator: rows[0].separator))
    }
}

final class EveryAggregate: AggregateState {
    private var isTrue: Bool?
    func add(_ call: FunctionCall) { if !call.isNull(0) { isTrue = (isTrue ?? true) && call.integer(0) != 0 } }
    func finish(_ call: FunctionCall) { call.answer(isTrue.map { $0 ? "1" : "0" }) }
}

final class AnyAggregate: AggregateState {
    private var isTrue: Bool?
    func add(_ call: FunctionCall) { if !call.isNull(0) { isTrue = (isTrue ?? false) || call.integer(0) != 0 } }
    func finish(_ call: FunctionCall) { call.answer(isTrue.map { $0 ? "1" : "0" }) }
}

/// A text for each value by which texts sort as the values do.
enum CatalogSortKey {
    /// - Parameter order: `a` and `d`, in capitals where NULLs come first. By itself "null values sort as if larger than any non-null
    ///   value": https://www.postgresql.org/docs/15/queries-order.html
    static func text(_ call: FunctionCall, _ index: Int, order: UInt8) -> String {
        let isDescending = order | 0x20 == UInt8(ascii: "d")
        let nullsFirst = order & 0x20 == 0
        if call.isNull(index) { return nullsFirst ? "0" : "2" }
        // Two digits for each byte, so that what a longer text begins with is less than it.
        var digits: [UInt8] = []
        for byte in bytes(call, index) {
            let byte = isDescending ? ~byte : byte
            digits.append(UInt8(ascii: "a") + byte >> 4)
            digits.append(UInt8(ascii: "a") + byte & 15)
        }
        return "1" + String(decoding: digits, as: UTF8.self) + (isDescending ? "z" : "!")
    }

    /// Numbers in a fixed width.
    private static func bytes(_ call: FunctionCall, _ index: Int) -> [UInt8] {
        func big(_ bits: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) } }
        switch call.storageClass(index) {
        case .integer: return big(UInt64(bitPattern: call.integer(index)) ^ 1 << 63)
        case .real:
            let bits = call.double(index).bitPattern
            return big(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
        default: return Array(call.bytes(index))
        }
    }
}
