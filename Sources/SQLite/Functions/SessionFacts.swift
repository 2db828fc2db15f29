/// What a session may ask about itself, though connections are shared.
public struct SessionFacts: Sendable {
    public var userName: String
    public var databaseName: String
    /// What the session's client was told in BackendKeyData.
    public var processID: Int32
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
        public var name: String
        public var statement: String
        public var isBinary: Bool

        public init(name: String, statement: String, isBinary: Bool) {
            (self.name, self.statement, self.isBinary) = (name, statement, isBinary)
        }
    }

    public init(
        userName: String, databaseName: String, processID: Int32, version: String,
        setting: @escaping @Sendable (String) -> String?, set: @escaping @Sendable (String, String, String) -> String?,
        cursors: @escaping @Sendable () -> [Cursor]
    ) {
        (self.userName, self.databaseName, self.processID) = (userName, databaseName, processID)
        (self.version, self.setting, self.set, self.cursors) = (version, setting, set, cursors)
    }
}
