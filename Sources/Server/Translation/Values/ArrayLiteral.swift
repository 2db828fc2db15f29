/// The elements of an array's text: "an array value … within curly braces, separated by the delimiter … You can put
/// double quotes around any element value, and must do so if it contains commas or curly braces", backslash escapes
/// what is special. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
struct ArrayLiteral {
    private let bytes: UnsafeRawBufferPointer
    private var index = 1
    private var isAtEnd = false
    private(set) var hasFailed = false
    /// A backslash stands in the element that was read last: `NUL\L` is a text, as "NULL" in quotes is.
    private var hasEscape = false

    struct Element {
        var text: [UInt8]
        var isNull: Bool
    }

    /// nil when it does not look like an array of one dimension.
    init?(_ text: UnsafeRawBufferPointer) {
        let start = text.firstIndex { !isSpace($0) } ?? text.count
        let end = (text.lastIndex { !isSpace($0) } ?? -1) + 1
        guard end - start >= 2, text[start] == UInt8(ascii: "{"), text[end - 1] == UInt8(ascii: "}") else { return nil }
        bytes = UnsafeRawBufferPointer(rebasing: text[start..<(end - 1)])
        isAtEnd = bytes.dropFirst().allSatisfy(isSpace)
    }

    mutating func next() -> Element? {
        guard !isAtEnd, !hasFailed else { return nil }
        skipSpace()
        let isQuoted = index < bytes.count && bytes[index] == UInt8(ascii: "\"")
        guard let text = isQuoted ? quoted() : plain() else {
            hasFailed = true
            return nil
        }
        skipSpace()
        if index == bytes.count {
            isAtEnd = true
        } else if bytes[index] == UInt8(ascii: ",") {
            index += 1
        } else {
            hasFailed = true
            return nil
        }
        return Element(
            text: text,
            isNull: !isQuoted && !hasEscape && text.count == 4 && text.elementsEqual("null".utf8) { $0 | 0x20 == $1 })
    }

    private mutating func skipSpace() { while index < bytes.count, isSpace(bytes[index]) { index += 1 } }

    private mutating func quoted() -> [UInt8]? {
        var text: [UInt8] = []
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            guard let byte = character() else { return nil }
            text.append(byte)
        }
        guard index < bytes.count else { return nil }
        index += 1
        return text
    }

    private mutating func plain() -> [UInt8]? {
        hasEscape = false
        var text: [UInt8] = []
        var trailing = 0
        while index < bytes.count, bytes[index] != UInt8(ascii: ",") {
            let isBlank = isSpace(bytes[index])
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "\""): return nil
            default: break
            }
            if bytes[index] == UInt8(ascii: "\\") { hasEscape = true }
            guard let byte = character() else { return nil }
            text.append(byte)
            trailing = isBlank ? trailing + 1 : 0
        }
        text.removeLast(trailing)
        return text.isEmpty ? nil : text
    }

    private mutating func character() -> UInt8? {
        if bytes[index] == UInt8(ascii: "\\") { index += 1 }
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }
}
