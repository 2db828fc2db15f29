/// The expressions of a TOML document, each with its line: a header, or a key with its value.
///
/// TOMLKit parses the expressions, one by one. It cannot be given the whole file for this: it tells no line of what it has
/// parsed, and it stops at the first error. All that is known here is where an expression ends, which is a matter of
/// strings, brackets and comments: https://toml.io/en/v1.0.0
struct ConfigurationExpressions {
    /// A bracket that is closed by one of another kind is no expression for TOMLKit either: on "a = [}" an assertion of its
    /// parser ends the process.
    enum Kind { case header, entry, unclosedBracket, wrongBracket }

    struct Expression: Equatable {
        let line: Int
        let kind: Kind
        let text: String

        /// Whether a header's brackets are followed by what a name can begin with. TOMLKit takes that for granted: on "[é]"
        /// an assertion of its parser ends the process.
        var hasName: Bool {
            let inside = text.utf8.dropFirst(text.hasPrefix("[[") ? 2 : 1).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard let first = inside.first else { return false }
            return ConfigurationExpressions.isBareKey(first) || first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        }
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private(set) var all: [Expression] = []

    /// After each of these the rest is read again. A person with more than that to close mends some of them first.
    private static let unclosedBracketLimit = 20

    init(_ text: String) {
        bytes = Array(text.utf8)
        var unclosed = 0
        while unclosed < Self.unclosedBracketLimit, let expression = next() {
            if expression.kind == .unclosedBracket { unclosed += 1 }
            all.append(expression)
        }
    }

    private mutating func next() -> Expression? {
        skipBlank()
        guard position < bytes.count else { return nil }
        let start = position
        let startLine = line
        if bytes[position] == UInt8(ascii: "[") {
            // Nothing in a header goes beyond the line.
            skipComment()
            return expression(.header, startLine, start..<position)
        }
        var isMatched = true
        if skipKeyAndValue(&isMatched) {
            return expression(isMatched ? .entry : .wrongBracket, startLine, start..<position)
        }
        // The bracket swallows the file; what follows it may have errors of its own.
        position = start
        line = startLine
        skipToNextKey()
        return expression(.unclosedBracket, startLine, start..<position)
    }

    private func expression(_ kind: Kind, _ line: Int, _ range: Range<Int>) -> Expression {
        // A line may end with \r\n, which is one end and not a character before it.
        let endsWithReturn = range.upperBound < bytes.count && bytes[range.upperBound - 1] == UInt8(ascii: "\r")
        let text = bytes[endsWithReturn ? range.lowerBound..<(range.upperBound - 1) : range]
        return Expression(line: line, kind: kind, text: String(decoding: text, as: UTF8.self))
    }

    // MARK: Moving on

    private func startsWith(_ text: StaticString, at index: Int) -> Bool {
        let pattern = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return index + pattern.count <= bytes.count && bytes[index..<index + pattern.count].elementsEqual(pattern)
    }

    private mutating func skipBlank() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
            case UInt8(ascii: "#"): skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// False when a bracket is still open at the end.
    private mutating func skipKeyAndValue(_ isMatched: inout Bool) -> Bool {
        var closing: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                if closing.isEmpty { return true }
                line += 1
                position += 1
            case UInt8(ascii: "#"): skipComment()
            case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                closing.append(bytes[position] == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}"))
                position += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if closing.popLast() != bytes[position] { isMatched = false }
                position += 1
            default: position += 1
            }
        }
        return closing.isEmpty
    }

    /// One that is not closed ends with its line, if it is of the kind that has one line.
    private mutating func skipString() {
        let quote = bytes[position]
        let isLong = quote == UInt8(ascii: "\"") ? startsWith("\"\"\"", at: position) : startsWith("'''", at: position)
        position += isLong ? 3 : 1
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") {
                if !isLong { return }
                line += 1
            }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), position + 1 < bytes.count,
                bytes[position + 1] != UInt8(ascii: "\n")
            {
                position += 2
                continue
            }
            guard byte == quote else {
                position += 1
                continue
            }
            if !isLong {
                position += 1
                return
            }
            if position + 2 < bytes.count, bytes[position + 1] == quote, bytes[position + 2] == quote {
                position += 3
                // "You can write a quotation mark, or two adjacent ones" just before the closing three.
                while position < bytes.count, bytes[position] == quote { position += 1 }
                return
            }
            position += 1
        }
    }

    /// To the first line below that looks like a header or like the beginning of a key and its value.
    private mutating func skipToNextKey() {
        while position < bytes.count {
            skipComment()
            guard position < bytes.count else { return }
            position += 1
            line += 1
            if startsWith("[[", at: position) { return }
            var index = position
            while index < bytes.count, Self.isBareKey(bytes[index]) { index += 1 }
            let hasKey = index > position
            while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
            if hasKey, index < bytes.count, bytes[index] == UInt8(ascii: "=") { return }
        }
    }

    static func isBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
