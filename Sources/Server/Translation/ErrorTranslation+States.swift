import PostgresWire
import SQLite

/// Which SQLSTATE an error of SQLite's is, by its code, or by its words where the code says nothing.
extension ErrorTranslation {
    static func state(of error: SQLiteError) -> SQLState {
        if error.extendedCode == Code.busySnapshot { return .serializationFailure }
        switch error.code {
        // RESTRICT is made of a trigger, so its code is a trigger's.
        case Code.constraint where error.message == "FOREIGN KEY constraint failed": return .foreignKeyViolation
        case Code.constraint: return constraintState(error.constraint)
        case Code.error: return stateFromMessage(error.message)
        case Code.busy, Code.locked, Code.protocolError: return .lockNotAvailable
        case Code.noMemory: return .outOfMemory
        case Code.readOnly: return .readOnlySQLTransaction
        case Code.interrupt: return .queryCanceled
        case Code.inputOutput, Code.cannotOpen, Code.permission: return .ioError
        case Code.corrupt, Code.notADatabase: return .dataCorrupted
        case Code.full: return .diskFull
        case Code.schema: return .featureNotSupported
        case Code.tooBig where error.message == "statement too long": return .programLimitExceeded
        case Code.tooBig: return .stringDataRightTruncation
        case Code.mismatch: return .datatypeMismatch
        case Code.authorization: return .insufficientPrivilege
        case Code.range: return .undefinedParameter
        default: return .internalError
        }
    }

    private static func constraintState(_ constraint: SQLiteError.Constraint?) -> SQLState {
        switch constraint {
        case .check: .checkViolation
        case .foreignKey: .foreignKeyViolation
        case .notNull: .notNullViolation
        case .primaryKey, .unique, .rowid: .uniqueViolation
        case .trigger: .raiseException
        case .dataType: .datatypeMismatch
        default: .integrityConstraintViolation
        }
    }

    /// What SQLite says on a connection that has read the schema when another process has put a database of another text encoding in
    /// the file's place (`.restore`).
    static let foreignEncoding = "attached databases must use the same text encoding as main database"

    /// How messages begin that SQLite has no code of its own for. The first that fits counts, so the special stands before the general.
    private static let statesByBeginning: [(String, SQLState)] = [
        (foreignEncoding, .ioError),
        ("no such table", .undefinedTable), ("no such view", .undefinedTable),
        ("no such column", .undefinedColumn), ("no such function", .undefinedFunction),
        ("no such index", .undefinedObject), ("no such trigger", .undefinedObject),
        ("no such collation sequence", .undefinedObject), ("no such module", .undefinedObject),
        ("no such window", .undefinedObject), ("unknown database", .invalidSchemaName),
        ("no such savepoint", .invalidSavepointSpecification), ("no such ", .undefinedObject),
        ("ambiguous column", .ambiguousColumn), ("wrong number of arguments", .undefinedFunction),
        ("misuse of aggregate", .groupingError),
        ("aggregate functions are not allowed", .groupingError), ("misuse of window", .groupingError),
        ("misuse of aliased aggregate", .groupingError),
        ("incomplete input", .syntaxError), ("unrecognized token", .syntaxError), ("near \"", .syntaxError),
        ("integer overflow", .numericValueOutOfRange), ("string or blob too big", .programLimitExceeded),
        ("too many ", .programLimitExceeded), ("LIKE or GLOB pattern too complex", .programLimitExceeded),
        ("at most 64 tables in a join", .programLimitExceeded), ("parser stack overflow", .statementTooComplex),
        ("Expression tree is too large", .statementTooComplex),
        ("stack depth limit exceeded", .statementTooComplex), ("malformed JSON", .invalidTextRepresentation),
        ("unnest() needs", .undefinedFunction), ("generate_series needs", .undefinedFunction),
        ("generate_series takes", .invalidParameterValue), ("step size cannot", .invalidParameterValue),
        ("the pattern ", .programLimitExceeded), ("the pattern, ", .programLimitExceeded),
        ("there are too many rows", .programLimitExceeded),
        ("table ", .syntaxError), ("duplicate column name", .duplicateColumn),
        ("invalid input syntax for ", .invalidTextRepresentation), ("relation \"", .undefinedTable),
        ("an aggregate of ", .datatypeMismatch),
        ("unit \"", .invalidParameterValue), ("field position must not be zero", .invalidParameterValue),
        ("lastval is not yet defined", .objectNotInPrerequisiteState),
        ("not authorized", .insufficientPrivilege), ("unsafe use of", .insufficientPrivilege),
        ("attempt to write a readonly", .readOnlySQLTransaction),
        ("cannot start a transaction within", .activeSQLTransaction),
        ("cannot VACUUM", .activeSQLTransaction), ("cannot insert multiple commands", .syntaxError),
    ]

    /// SQLITE_ERROR says everything in its message only.
    private static func stateFromMessage(_ message: String) -> SQLState {
        if message.hasSuffix("already exists") { return alreadyExists(message) }
        if message.contains("has no column named") || message.contains("cannot be used as a column") {
            return .undefinedColumn
        }
        if message.hasSuffix("prohibited in views") || message.contains("may not be modified") {
            return .insufficientPrivilege
        }
        return statesByBeginning.first { message.hasPrefix($0.0) }?.1 ?? .syntaxErrorOrAccessRuleViolation
    }

    private static func alreadyExists(_ message: String) -> SQLState {
        message.hasPrefix("table ") || message.hasPrefix("view ") || message.hasPrefix("there is already a table")
            ? .duplicateTable : .duplicateObject
    }
}
