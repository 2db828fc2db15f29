import Logging
import SQLite
import Scheduling

/// Somebody has written into the files themselves (`cp`), which stay in their places, and stay open. What was there is no
/// more; what can be kept is that what came in its place is not mixed with what is left.
extension Pool {
    /// Another database was written into the file (`cp backup.db app.db`). The frames in the -wal belong to what was there
    /// before: nothing is copied, and they are moved away, or the next start would find them beside the other database.
    ///
    /// - Parameter failure: what the writer has met.
    /// - Returns: why this one cannot be opened again, or nil.
    func writtenOverDatabase(_ failure: SQLiteError?) -> String? {
        let known = [failure, writer.failure, pipelinedSync?.error]
        guard known.contains(DatabaseFiles.writtenOver) || writer.knownFiles.isDatabaseWrittenOver else { return nil }
        moveOwnWALAway()
        return "\(path) was written over while it was served: what was in it is lost, and nothing was copied into it"
    }

    /// In the place of the -wal there is something that belongs to the database as it was.
    private var hasOwnWAL: Bool { filesLeft.hasFrames && !isWALForeign }

    /// The other database's own may come next, written over the one in place, too (`cp backup.db app.db; cp backup.db-wal app.db-wal`).
    func moveOwnWALAway() {
        let end = MonotonicClock.now.advanced(byMilliseconds: PoolLimits.replacementMilliseconds)
        guard !MonotonicClock.pollUntilTrue(by: end, { !hasOwnWAL }) else { return }
        do {
            let name = try filesLeft.moveWALAway()
            log.error(
                .ioError, "\(path)-wal belongs to what was in the file before and was moved to \(name)",
                metadata: ["hint": "what was committed since the last checkpoint is there, and of use only beside a copy of that file"])
        } catch {
            log.error(
                .ioError, "\(path)-wal belongs to what was in the file before: delete it before the daemon starts again",
                metadata: ["error": "\(error.message)"])
        }
    }

    /// Somebody has written into the -wal itself (`cp other.db-wal app.db-wal`), and what was committed there since the
    /// last checkpoint is no more. Nothing is copied out of it; and where its header says that it is another database's, it
    /// is moved away, or the next start would take its frames for this one's.
    ///
    /// - Parameters:
    ///   - failure: what the writer has met.
    ///   - stays: it is not emptied afterwards, and so it matters also where the database has all that was committed.
    /// - Returns: why this one cannot be opened again, or nil.
    func writtenOverWAL(after failure: SQLiteError?, stays: Bool = false) -> String? {
        let problem = failure ?? files.problem
        let isLoss = problem.map(DatabaseFiles.isLoss) ?? false
        // After another error the disk may lack what the index names, without anybody having written over it: another database's header
        // says so, whatever the error was. To read drops nothing, so after that an earlier header of this one's says it, too.
        guard isLoss || problem == nil || (problem?.isOfRead == true ? writer.files.hasForeignWAL : writer.files.hasWALOfAnother) else {
            return nil
        }
        let isCopied = writer.walFrames.all <= writer.walFrames.copied
        let isMissed = isLoss || !isCopied
        guard writer.places.hasWAL, writer.places.hasIndex, isMissed || stays else { return nil }
        switch writer.files.walContent(isThorough: true) {
        // Of what cannot be read SQLite finds out when it is opened anew.
        case .own: return nil
        case .unreadable where !isWALForeign: return nil
        case .unreadable, .foreign, .cut: break
        }
        guard isWALForeign else { return isMissed ? Self.lossOfWAL(of: path) : nil }
        guard !isDatabaseLost(withinMilliseconds: PoolLimits.replacementMilliseconds) else { return Self.loss(of: path) }
        // Asked again, for it has taken a while.
        guard isWALForeign else { return Self.lossOfWAL(of: path) }
        let fate = isCopied ? "all that was committed is in the database" : "what was committed since the last checkpoint is lost"
        do {
            let name = try writer.places.moveWALAway()
            return "\(path)-wal was written over by one of another database while it was served, which was moved to \(name): \(fate)"
        } catch {
            return
                "\(path)-wal was written over by one of another database while it was served: \(fate), and the -wal has to be moved away "
                + "before the next start, for it cannot be done now (\(error.message))"
        }
    }

    /// The -wal is the one that is open, and what stands in it is another database's. Only where the index is everybody's: who has made
    /// another may have begun the -wal anew, by right.
    var isWALForeign: Bool { writer.places.hasWAL && writer.places.hasIndex && writer.files.hasForeignWAL }

    static func lossOfWAL(of path: String) -> String {
        "\(path)-wal was truncated or written over while it was served: what was committed since the last checkpoint may be lost, "
            + "and nothing was copied"
    }

    /// Another database comes into the place of this one, or into its file: what has come beside it belongs to that.
    func isDatabaseLost(withinMilliseconds milliseconds: Int64) -> Bool {
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        let files = writer.knownFiles
        return MonotonicClock.pollUntilTrue(by: end) { writer.places.databaseInPlace == nil || files.isDatabaseWrittenOver }
    }
}
