import Scheduling

/// Every bound of what is logged, each with its reason. The thresholds of one algorithm stay with it.
enum LogLimits {
    /// What of a statement's text appears. Longer ones are told apart by their beginning.
    static let sqlBytes = 2_000
    /// The longest text whose plan is asked for: as long as those that are remembered.
    static let explainedTextBytes = SessionLimits.rememberedTextBytes
    /// Lines of a plan, and bytes of all of them: a statement may join 64 tables.
    static let planLines = 64
    static let planBytes = 4_000
    /// How long asking for it may take: nobody waits for it, but it has a reader, or the one that only prepares.
    static let planMilliseconds: Int64 = 50
    /// Members of a slow group that are named.
    static let namedMembers = 10
    /// Parameters that appear, with log_parameters.
    static let parameters = 32

    // How many lines of a kind one user's sessions may cause: a burst, and then so many a second. What goes beyond is
    // counted, and the count is logged. By user, so that one who floods the log leaves the others theirs.
    static let errors = RateLimit.Rate(burst: 20, perSecond: 2)
    static let statements = RateLimit.Rate(burst: 20, perSecond: 2)
    static let waits = RateLimit.Rate(burst: 10, perSecond: 2)
    /// Asked for by name, so more of them.
    static let connections = RateLimit.Rate(burst: 100, perSecond: 50)
    /// Plans take a reader for a moment.
    static let plans = RateLimit.Rate(burst: 5, perSecond: 1)
    /// Users told apart; the others share.
    static let users = 64
    /// How soon after the first line that was left out their number is logged.
    static let leftOutReportMilliseconds: Int64 = 5_000
}
