/// What a session may ask about itself, though connections are shared.
public struct SessionFacts: Sendable {
    /// What current_user(), session_user() and current_role() answer.
    public var userName: String
    /// What current_database() and current_catalog() answer.
    public var databaseName: String
    /// What the session's client was told in BackendKeyData.
    public var processID: Int32
    /// What version() answers: a sentence, not a number.
    public var version: String
    /// A setting by name.
    public var setting: @Sendable (String) -> String?
    /// Sets one, and returns what it is then. nil: it is refused, and who asked for it knows why.
    ///
    /// - Parameter isLocal: a boolean as text.
    public var set: @Sendable (_ name: String, _ value: String, _ isLocal: String) -> String?
    /// The open ones, in no order.
    public var cursors: @Sendable () -> [Cursor]

    /// What pg_cursors shows of one.
    public struct Cursor: Sendable {
        /// The portal's, which DECLARE or Bind gave it.
        public var name: String
        /// The query that it runs, as the client sent it.
        public var statement: String
        /// Declared with BINARY: its rows come in the binary format.
        public var isBinary: Bool
        /// Declared WITH HOLD: it outlives its transaction.
        public var isHoldable: Bool

        /// A row of pg_cursors.
        public init(name: String, statement: String, isBinary: Bool, isHoldable: Bool) {
            (self.name, self.statement, self.isBinary, self.isHoldable) = (name, statement, isBinary, isHoldable)
        }
    }

    /// What a session's functions answer, as long as its statement runs.
    public init(
        userName: String, databaseName: String, processID: Int32, version: String,
        setting: @escaping @Sendable (String) -> String?, set: @escaping @Sendable (String, String, String) -> String?,
        cursors: @escaping @Sendable () -> [Cursor]
    ) {
        (self.userName, self.databaseName, self.processID) = (userName, databaseName, processID)
        (self.version, self.setting, self.set, self.cursors) = (version, setting, set, cursors)
    }
}
