import SQLite

/// The errors that say what has become of the files.
extension DatabaseFiles {
    static func lost(_ message: String) -> SQLiteError {
        SQLiteError(extendedCode: SQLiteError.Code.inputOutput, message: message)
    }

    static var truncatedWAL: SQLiteError { lost("the -wal was truncated while it was open") }

    static var writtenOverWAL: SQLiteError { lost("the -wal was written over while it was open") }

    static var truncated: SQLiteError { lost("the database's file was truncated while it was open") }

    static var writtenOver: SQLiteError { lost("the database's file was written over while it was open") }

    static var replaced: SQLiteError { lost("another file is in its place") }

    /// They are back where they were, and another process may have opened others meanwhile.
    static var missingForAMoment: SQLiteError {
        lost("the database's file, its -wal or its -shm could not be found for a moment")
    }

    /// No disk has failed: a file was lost. Errors of a disk say which operation it was, in a second byte
    /// (https://www.sqlite.org/rescode.html#extrc): those of SQLite, and those of our own calls.
    static func isLoss(_ error: SQLiteError) -> Bool { error.extendedCode == SQLiteError.Code.inputOutput }
}
