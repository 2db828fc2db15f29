import Glibc

/// The patterns that clients match names with: `~`, `~*` (marked by `(?i)`) and ILIKE (marked by `(?l)`).
///
/// The C library's extended expressions are what PostgreSQL's simpler ones are. What makes those slow or large is refused, because
/// a pattern is a client's and the memory is everybody's: counted repetition and references back, and what is repeated is copied
/// for each `+` around it (25 of them behind one letter took more than 20 GB).
enum CatalogPattern {
    struct Failure: Error {
        var message: String
    }

    static func matches(_ text: String, pattern: String) throws(Failure) -> Bool {
        if pattern.hasPrefix("(?l)") { return try isLike(text.lowercased(), pattern: pattern.dropFirst(4).lowercased()) }
        let ignoresCase = pattern.hasPrefix("(?i)")
        let expression = ignoresCase ? String(pattern.dropFirst(4)) : pattern
        guard text.utf8.count <= CatalogLimits.matchedBytes, isSimple(expression.utf8) else {
            throw Failure(message: "the pattern is too complicated for a catalog statement")
        }
        var compiled = regex_t()
        let code = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB | (ignoresCase ? REG_ICASE : 0))
        guard code == 0 else {
            throw Failure(message: "invalid regular expression: \"\(expression.prefix(SessionLimits.quotedCharacters))\"")
        }
        defer { regfree(&compiled) }
        return regexec(&compiled, text, 0, nil, 0) == 0
    }

    /// `%` and `_` as in LIKE, the rest as in regular expressions; the whole text has to match.
    /// https://www.postgresql.org/docs/15/functions-matching.html#FUNCTIONS-SIMILARTO-REGEXP
    static func expression(similarTo pattern: String) -> String {
        var expression = ""
        var isEscaped = false
        for character in pattern {
            switch character {
            case _ where isEscaped: expression += character.isLetter || character.isNumber ? String(character) : "\\\(character)"
            case "\\": break
            case "%": expression += ".*"
            case "_": expression += "."
            case ".", "^", "$": expression += "\\\(character)"
            default: expression.append(character)
            }
            isEscaped = !isEscaped && character == "\\"
        }
        return "^(\(expression))$"
    }

    private static func isSimple(_ expression: String.UTF8View) -> Bool {
        var copies = expression.count
        var (isEscaped, wasRepeated) = (false, false)
        for byte in expression {
            // Also in brackets, where it means nothing: to tell where one ends is a parser of its own, and one to be fooled.
            let isRepetition = !isEscaped && (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?"))
            if isRepetition, wasRepeated { return false }
            if isRepetition, byte == UInt8(ascii: "+") { copies *= 2 }
            if byte == UInt8(ascii: "{") || (isEscaped && isDigit(byte)) || copies > CatalogLimits.patternCopies { return false }
            wasRepeated = isRepetition
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return expression.count <= CatalogLimits.patternBytes
    }

    /// PostgreSQL's LIKE: case counts, and a backslash takes what is behind it for itself.
    static func isLike(_ text: String, pattern: String) throws(Failure) -> Bool {
        let (comparisons, overflows) = text.utf8.count.multipliedReportingOverflow(by: pattern.utf8.count)
        guard !overflows, comparisons <= CatalogLimits.likeComparisons, text.utf8.count <= CatalogLimits.likedBytes else {
            throw Failure(message: "the pattern, or what it is compared with, is too long for a catalog statement")
        }
        return isLike(Array(text), Array(pattern)[...])
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
