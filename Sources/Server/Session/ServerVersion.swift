import SQLite

/// What is announced as the server's version. psql picks its catalog queries by the leading number.
package enum ServerVersion {
    /// Walpool's version: the program's, the package's and the manual's.
    package static let walpool = "0.1"
    static let number = "150000"
    static let announced = "15.0 (Walpool \(walpool), SQLite \(SQLiteLibrary.version))"
    static let sentence =
        "PostgreSQL 15.0 wire protocol, Walpool \(walpool) serving SQLite \(SQLiteLibrary.version)"
}
