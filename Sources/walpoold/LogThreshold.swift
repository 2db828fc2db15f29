import Logging
import Synchronization

/// The level below which nothing is logged. A reload changes it while every thread looks at it.
enum LogThreshold {
    private static let levels = Logger.Level.allCases
    private static let index = Atomic<Int>(0)

    static var level: Logger.Level {
        get { levels[index.load(ordering: .relaxed)] }
        set { index.store(levels.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
    }
}
