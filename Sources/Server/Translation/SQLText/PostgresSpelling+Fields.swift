/// `EXTRACT(month FROM x)`, which Django, SQLAlchemy and peewee write for a part of a date.
extension PostgresSpelling {
    /// Parts that are integers, to which date_part() gives doubles.
    private static let wholeParts: Set<String> = [
        "millennium", "century", "decade", "year", "isoyear", "quarter", "month", "week", "day", "hour", "minute", "dow", "isodow", "doy",
        "microsecond", "microseconds",
    ]
    private static let otherParts: Set<String> = ["second", "millisecond", "milliseconds", "epoch"]

    /// - Returns: false where it is something else, or a part that date_part() does not know; SQLite complains then.
    mutating func extract(_ word: SQLToken) -> Bool {
        var ahead = lexer
        guard ahead.next()?.kind == .leftParenthesis, let part = ahead.next(), part.kind == .identifier || part.kind == .string,
            ahead.next()?.matches("from") == true
        else { return false }
        let name = part.name.lowercased()
        let isWhole = Self.wholeParts.contains(name)
        guard isWhole || Self.otherParts.contains(name) else { return false }
        // Behind FROM stands a space, or what needs none.
        replace(word.start..<ahead.position, by: "\(isWhole ? "CAST(" : "")date_part('\(name)', ".utf8)
        lexer = ahead
        openCall(of: word, closing: isWhole ? ") AS INTEGER)" : nil)
        return true
    }

    /// `AT TIME ZONE 'UTC'`, with which Django asks for the parts of every moment: it is what date_part() and date_trunc() have anyway.
    mutating func utc(_ word: SQLToken) -> Bool {
        var ahead = lexer
        guard let call = openers.last ?? nil,
            call.matches("extract") || call.matches("date_part") || call.matches("date_trunc"),
            ahead.next()?.matches("time") == true, ahead.next()?.matches("zone") == true, let zone = ahead.next(), zone.kind == .string,
            zone.name.uppercased() == "UTC", case let end = zone.end, ahead.next()?.kind == .rightParenthesis
        else { return false }
        replace(word.start..<end, by: [])
        lexer = lexer.moved(to: end)
        return true
    }
}
