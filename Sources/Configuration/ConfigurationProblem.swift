/// Something wrong in a configuration, and where.
package struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1; 0 is the file as a whole.
    package let line: Int
    /// For the person who wrote the file, without the place.
    package let message: String

    /// - Parameter line: 0 for the file as a whole.
    package init(line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    package var description: String { line == 0 ? message : "\(line): \(message)" }
}

/// Everything that is wrong with what the daemon is to start with, a line each.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// Each with its place, where it has one.
    package let lines: [String]

    package init(_ lines: [String]) { self.lines = lines }

    /// Nobody reads further, and a reload writes them into the log.
    private static let lineLimit = 100

    init(path: String, _ problems: [ConfigurationProblem]) {
        let told = problems.sorted { $0.line < $1.line }.prefix(Self.lineLimit)
        let more = problems.count - told.count
        lines =
            told.map { $0.line == 0 ? "\(path): \($0.message)" : "\(path):\($0)" }
            + (more > 0 ? ["\(path): and \(more) more problems"] : [])
    }
}

/// The known spelling an unknown word was probably meant to be.
func nearestSpelling(to word: String, among known: [String]) -> String? {
    // A third of the word wrong is another word.
    let furthest = max(1, word.count / 3)
    let distances = known.map { (name: $0, distance: editDistance(word.lowercased(), $0)) }
    guard let nearest = distances.min(by: { $0.distance < $1.distance }), nearest.distance <= furthest else {
        // "timeout" alone, or a key that lost its unit.
        let containing = known.filter { $0.hasPrefix(word.lowercased() + "_") || $0.hasSuffix("_" + word.lowercased()) }
        return containing.count == 1 ? containing[0] : nil
    }
    return nearest.name
}

/// How many letters must be changed, added, removed or swapped with their neighbour (optimal string alignment).
private func editDistance(_ first: String, _ second: String) -> Int {
    let a = Array(first.utf8), b = Array(second.utf8)
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var cost = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, rows[i - 1][j - 1] + 1) }
            row.append(cost)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
