/// PostgreSQL's conditions, those that are used here: each name is its own, in Swift's spelling (unique_violation is `uniqueViolation`),
/// and so is each code.
/// https://www.postgresql.org/docs/current/errcodes-appendix.html
extension SQLState {
    // Class 00: successful completion; 01: warning
    public static let successfulCompletion: SQLState = "00000"
    public static let warning: SQLState = "01000"

    // Class 08: the connection
    public static let connectionFailure: SQLState = "08006"
    public static let transactionResolutionUnknown: SQLState = "08007"
    public static let protocolViolation: SQLState = "08P01"

    // Class 0A: feature not supported
    public static let featureNotSupported: SQLState = "0A000"

    // Class 22: data exception
    public static let stringDataRightTruncation: SQLState = "22001"
    public static let numericValueOutOfRange: SQLState = "22003"
    public static let invalidDatetimeFormat: SQLState = "22007"
    public static let datetimeFieldOverflow: SQLState = "22008"
    public static let characterNotInRepertoire: SQLState = "22021"
    public static let invalidParameterValue: SQLState = "22023"
    public static let invalidTextRepresentation: SQLState = "22P02"
    public static let invalidBinaryRepresentation: SQLState = "22P03"
    public static let badCopyFileFormat: SQLState = "22P04"

    // Class 23: integrity constraint violation
    public static let integrityConstraintViolation: SQLState = "23000"
    public static let notNullViolation: SQLState = "23502"
    public static let foreignKeyViolation: SQLState = "23503"
    public static let uniqueViolation: SQLState = "23505"
    public static let checkViolation: SQLState = "23514"

    // Class 25: invalid transaction state
    public static let activeSQLTransaction: SQLState = "25001"
    public static let readOnlySQLTransaction: SQLState = "25006"
    public static let noActiveSQLTransaction: SQLState = "25P01"
    public static let inFailedSQLTransaction: SQLState = "25P02"
    public static let idleInTransactionSessionTimeout: SQLState = "25P03"
    public static let transactionTimeout: SQLState = "25P04"

    // Class 26, 28: invalid statement name, invalid authorization
    public static let invalidSQLStatementName: SQLState = "26000"
    public static let invalidAuthorizationSpecification: SQLState = "28000"

    // Class 2B: dependent privilege descriptors still exist
    public static let dependentObjectsStillExist: SQLState = "2BP01"

    // Class 34, 3B, 3D, 3F: invalid cursor, savepoint, catalog and schema name
    public static let invalidCursorName: SQLState = "34000"
    public static let invalidSavepointSpecification: SQLState = "3B001"
    public static let invalidCatalogName: SQLState = "3D000"
    public static let invalidSchemaName: SQLState = "3F000"

    // Class 40: transaction rollback
    public static let serializationFailure: SQLState = "40001"

    // Class 42: syntax error or access rule violation
    public static let syntaxErrorOrAccessRuleViolation: SQLState = "42000"
    public static let insufficientPrivilege: SQLState = "42501"
    public static let syntaxError: SQLState = "42601"
    public static let invalidName: SQLState = "42602"
    public static let duplicateColumn: SQLState = "42701"
    public static let ambiguousColumn: SQLState = "42702"
    public static let undefinedColumn: SQLState = "42703"
    public static let undefinedObject: SQLState = "42704"
    public static let duplicateObject: SQLState = "42710"
    public static let groupingError: SQLState = "42803"
    public static let datatypeMismatch: SQLState = "42804"
    public static let cannotCoerce: SQLState = "42846"
    public static let undefinedFunction: SQLState = "42883"
    public static let undefinedTable: SQLState = "42P01"
    public static let undefinedParameter: SQLState = "42P02"
    public static let duplicateCursor: SQLState = "42P03"
    public static let duplicatePreparedStatement: SQLState = "42P05"
    public static let duplicateTable: SQLState = "42P07"
    public static let ambiguousParameter: SQLState = "42P08"
    public static let invalidColumnReference: SQLState = "42P10"
    public static let invalidCursorDefinition: SQLState = "42P11"
    public static let indeterminateDatatype: SQLState = "42P18"

    // Class 53: insufficient resources
    public static let insufficientResources: SQLState = "53000"
    public static let diskFull: SQLState = "53100"
    public static let outOfMemory: SQLState = "53200"
    public static let tooManyConnections: SQLState = "53300"

    // Class 54: program limit exceeded
    public static let programLimitExceeded: SQLState = "54000"
    public static let statementTooComplex: SQLState = "54001"

    // Class 55: object not in prerequisite state
    public static let objectNotInPrerequisiteState: SQLState = "55000"
    public static let objectInUse: SQLState = "55006"
    public static let cantChangeRuntimeParam: SQLState = "55P02"
    public static let lockNotAvailable: SQLState = "55P03"

    // Class 57: operator intervention
    public static let queryCanceled: SQLState = "57014"
    public static let adminShutdown: SQLState = "57P01"
    public static let cannotConnectNow: SQLState = "57P03"

    // Class 58: system error
    public static let ioError: SQLState = "58030"
    public static let undefinedFile: SQLState = "58P01"
    public static let duplicateFile: SQLState = "58P02"

    // Class F0, P0: configuration file, PL/pgSQL
    public static let configFileError: SQLState = "F0000"
    public static let raiseException: SQLState = "P0001"

    // Class XX: internal error
    public static let internalError: SQLState = "XX000"
    public static let dataCorrupted: SQLState = "XX001"
}
