import Glibc

/// The patterns that clients match names with: `~`, `~*` (marked by `(?i)`) and ILIKE (marked by `(?l)`).
///
/// The C library's extended expressions are what PostgreSQL's simpler ones are. What makes those slow or large, counted
/// repetition and references back, is refused: a pattern is a client's, and the memory is everybody's.
enum CatalogPattern {
    struct Failure: Error {
        var message: String
    }

    private static let longestPattern = 1_000

    static func matches(_ text: String, pattern: String) throws(Failure) -> Bool {
        if pattern.hasPrefix("(?l)") {
            return Self.isLike(Array(text.lowercased()), Array(pattern.dropFirst(4).lowercased())[...])
        }
        let ignoresCase = pattern.hasPrefix("(?i)")
        let expression = ignoresCase ? String(pattern.dropFirst(4)) : pattern
        guard expression.utf8.count <= longestPattern, !expression.contains("{"), !hasBackReference(expression) else {
            throw Failure(message: "the pattern is too complicated for a catalog statement")
        }
        var compiled = regex_t()
        let code = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB | (ignoresCase ? REG_ICASE : 0))
        guard code == 0 else { throw Failure(message: "invalid regular expression: \"\(expression.prefix(64))\"") }
        defer { regfree(&compiled) }
        return regexec(&compiled, text, 0, nil, 0) == 0
    }

    private static func hasBackReference(_ expression: String) -> Bool {
        zip(expression.utf8, expression.utf8.dropFirst()).contains { $0 == UInt8(ascii: "\\") && isDigit($1) }
    }

    /// One wildcard is tried at a time: when a later % has been reached, the earlier ones need no other length.
    private static func isLike(_ text: [Character], _ pattern: ArraySlice<Character>) -> Bool {
        var (at, here) = (0, pattern.startIndex)
        var retry: (at: Int, here: Int)?
        while at < text.count {
            let isLast = here == pattern.endIndex
            if !isLast, pattern[here] == "%" {
                retry = (at, here + 1)
                here += 1
            } else if !isLast, pattern[here] == "\\", here + 1 < pattern.endIndex, pattern[here + 1] == text[at] {
                (at, here) = (at + 1, here + 2)
            } else if !isLast, pattern[here] != "\\", pattern[here] == "_" || pattern[here] == text[at] {
                (at, here) = (at + 1, here + 1)
            } else if let back = retry {
                (at, here) = (back.at + 1, back.here)
                retry = (at, here)
            } else {
                return false
            }
        }
        return pattern[here...].allSatisfy { $0 == "%" }
    }
}
