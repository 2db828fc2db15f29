/// Which parameters stand somewhere without a cast behind them: `$1`, and not `$1::date`. `$1 IS NULL` does not ask what type it is.
enum UncastParameters {
    static func numbers(_ statement: UnsafeRawBufferPointer) -> Set<Int> {
        var result: Set<Int> = []
        var candidate: Int?
        var isTested = false
        for token in SQLLexer(statement) {
            if let number = candidate {
                if token.matches("is") || token.matches("not") {
                    isTested = true
                    continue
                }
                let isNullTest = token.matches("isnull") || token.matches("notnull") || isTested && token.matches("null")
                if !isNullTest { result.insert(number) }
            }
            (candidate, isTested) = (nil, false)
            if token.kind == .parameter, case .numbered(let number, type: nil) = ParameterName(token.bytes) { candidate = number }
        }
        if let candidate { result.insert(candidate) }
        return result
    }
}
