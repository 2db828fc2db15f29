/// What following a program has cost so far. Nothing else would end it: it is no step of SQLite's.
struct ProgramWork {
    /// Values, their fields and the parameters they rest on, as often as they were looked at; what is shared counts once.
    var done = 0
    private var nextQuestion = Self.betweenQuestions
    private let isToStop: (() -> Bool)?
    private var isStopped = false

    /// More than this, and the program is left alone. An ORM's UPDATE of 1,200 rows by CASE in four columns is some eight millions, and
    /// that a second in a release build.
    static let limit = 12_000_000
    /// So often a cancel, a timeout or whoever waits may end it: some milliseconds.
    private static let betweenQuestions = 1 << 16

    /// - Parameter isToStop: asks what SQLite's progress handler asks.
    init(isToStop: (() -> Bool)?) { self.isToStop = isToStop }

    /// To be asked after each instruction.
    ///
    /// - Parameter others: what was done besides, and is counted elsewhere.
    mutating func isSpent(with others: Int) -> Bool {
        guard done + others > nextQuestion else { return isStopped }
        nextQuestion = done + others + Self.betweenQuestions
        isStopped = isStopped || done + others >= Self.limit || isToStop?() == true
        return isStopped
    }
}
