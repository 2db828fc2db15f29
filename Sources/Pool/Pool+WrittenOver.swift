import SQLite
import Scheduling

/// Somebody has written into the files themselves (`cp`), which stay in their places, and stay open. What was there is no more; what can be
/// kept is that what came in its place is not mixed with what is left.
extension Pool {
    /// Somebody has written into the -wal itself (`cp other.db-wal app.db-wal`), and what was committed there since the last checkpoint is no
    /// more. Nothing is copied out of it; and where its header says that it is another database's, it is moved away, or the next start
    /// would take its frames for this one's.
    ///
    /// - Parameter isLoss: it is asked even where the database has all that was committed.
    /// - Returns: why this one cannot be opened again, or nil.
    func writtenOverWAL(isLoss: Bool) -> String? {
        let isCopied = writer.walFrames.all <= writer.walFrames.copied
        guard writer.places.hasWAL, writer.places.hasIndex, isLoss || !isCopied, writer.files.walContent(isThorough: true) != .own else { return nil }
        guard isWALForeign else { return Self.lossOfWAL(of: path) }
        guard !isDatabaseLost(withinMilliseconds: PoolLimits.replacementMilliseconds) else { return Self.loss(of: path) }
        // Asked again, for it has taken a while.
        guard isWALForeign else { return Self.lossOfWAL(of: path) }
        let fate = isCopied ? "all that was committed is in the database" : "what was committed since the last checkpoint is lost"
        do {
            let name = try writer.places.moveWALAway()
            return "\(path)-wal was written over by one of another database while it was served, which was moved to \(name): \(fate)"
        } catch {
            return "\(path)-wal was written over by one of another database while it was served: \(fate), and the -wal has to be moved away "
                + "before the next start, for it cannot be done now (\(error.message))"
        }
    }

    /// The -wal is the one that is open, and what stands in it is another database's. Only where the index is everybody's: who has made
    /// another may have begun the -wal anew, by right.
    var isWALForeign: Bool { writer.places.hasWAL && writer.places.hasIndex && writer.files.walContent() == .foreign }

    static func lossOfWAL(of path: String) -> String {
        "\(path)-wal was truncated or written over while it was served: what was committed since the last checkpoint may be lost, and nothing "
            + "was copied"
    }

    /// Another database comes into the place of this one: what has come beside it belongs to that.
    func isDatabaseLost(withinMilliseconds milliseconds: Int64) -> Bool {
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        while writer.places.databaseInPlace != nil {
            guard MonotonicClock.now < end else { return false }
            MonotonicClock.sleepForOutsider(milliseconds: 1)
        }
        return true
    }
}
