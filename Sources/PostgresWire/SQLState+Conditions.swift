// The condition names of https://www.postgresql.org/docs/current/errcodes-appendix.html, those that a server over
// SQLite has a use for.
extension SQLState {
    // Class 00: successful completion; 01: warning
    public static let successfulCompletion: SQLState = "00000"
    public static let warning: SQLState = "01000"

    // Class 03, 08: the connection
    public static let sqlStatementNotYetComplete: SQLState = "03000"
    public static let connectionException: SQLState = "08000"
    public static let connectionDoesNotExist: SQLState = "08003"
    public static let connectionFailure: SQLState = "08006"
    public static let transactionResolutionUnknown: SQLState = "08007"
    public static let protocolViolation: SQLState = "08P01"

    // Class 0A: feature not supported
    public static let featureNotSupported: SQLState = "0A000"

    // Class 0B, 0P: invalid transaction initiation, invalid role
    public static let invalidTransactionInitiation: SQLState = "0B000"
    public static let invalidRoleSpecification: SQLState = "0P000"

    // Class 21: cardinality violation
    public static let cardinalityViolation: SQLState = "21000"

    // Class 22: data exception
    public static let dataException: SQLState = "22000"
    public static let stringDataRightTruncation: SQLState = "22001"
    public static let nullValueNotAllowed: SQLState = "22004"
    public static let numericValueOutOfRange: SQLState = "22003"
    public static let invalidDatetimeFormat: SQLState = "22007"
    public static let datetimeFieldOverflow: SQLState = "22008"
    public static let divisionByZero: SQLState = "22012"
    public static let characterNotInRepertoire: SQLState = "22021"
    public static let invalidParameterValue: SQLState = "22023"
    public static let invalidTextRepresentation: SQLState = "22P02"
    public static let invalidBinaryRepresentation: SQLState = "22P03"
    public static let badCopyFileFormat: SQLState = "22P04"
    public static let untranslatableCharacter: SQLState = "22P05"

    // Class 23: integrity constraint violation
    public static let integrityConstraintViolation: SQLState = "23000"
    public static let restrictViolation: SQLState = "23001"
    public static let notNullViolation: SQLState = "23502"
    public static let foreignKeyViolation: SQLState = "23503"
    public static let uniqueViolation: SQLState = "23505"
    public static let checkViolation: SQLState = "23514"

    // Class 24, 25: invalid cursor and transaction state
    public static let invalidCursorState: SQLState = "24000"
    public static let invalidTransactionState: SQLState = "25000"
    public static let activeSQLTransaction: SQLState = "25001"
    public static let readOnlySQLTransaction: SQLState = "25006"
    public static let noActiveSQLTransaction: SQLState = "25P01"
    public static let inFailedSQLTransaction: SQLState = "25P02"
    public static let idleInTransactionSessionTimeout: SQLState = "25P03"
    public static let transactionTimeout: SQLState = "25P04"

    // Class 26, 28: invalid statement name, invalid authorization
    public static let invalidSQLStatementName: SQLState = "26000"
    public static let invalidAuthorizationSpecification: SQLState = "28000"
    public static let invalidPassword: SQLState = "28P01"

    // Class 2B: dependent privilege descriptors still exist
    public static let dependentObjectsStillExist: SQLState = "2BP01"

    // Class 2D, 34, 3B, 3D, 3F: invalid transaction termination, cursor, savepoint, catalog and schema name
    public static let invalidTransactionTermination: SQLState = "2D000"
    public static let invalidCursorName: SQLState = "34000"
    public static let savepointException: SQLState = "3B000"
    public static let invalidSavepointSpecification: SQLState = "3B001"
    public static let invalidCatalogName: SQLState = "3D000"
    public static let invalidSchemaName: SQLState = "3F000"

    // Class 40: transaction rollback
    public static let transactionRollback: SQLState = "40000"
    public static let serializationFailure: SQLState = "40001"
    public static let statementCompletionUnknown: SQLState = "40003"
    public static let deadlockDetected: SQLState = "40P01"

    // Class 42: syntax error or access rule violation
    public static let syntaxErrorOrAccessRuleViolation: SQLState = "42000"
    public static let insufficientPrivilege: SQLState = "42501"
    public static let syntaxError: SQLState = "42601"
    public static let invalidName: SQLState = "42602"
    public static let invalidColumnDefinition: SQLState = "42611"
    public static let duplicateColumn: SQLState = "42701"
    public static let ambiguousColumn: SQLState = "42702"
    public static let undefinedColumn: SQLState = "42703"
    public static let undefinedObject: SQLState = "42704"
    public static let duplicateObject: SQLState = "42710"
    public static let duplicateAlias: SQLState = "42712"
    public static let ambiguousFunction: SQLState = "42725"
    public static let groupingError: SQLState = "42803"
    public static let datatypeMismatch: SQLState = "42804"
    public static let wrongObjectType: SQLState = "42809"
    public static let cannotCoerce: SQLState = "42846"
    public static let undefinedFunction: SQLState = "42883"
    public static let reservedName: SQLState = "42939"
    public static let undefinedTable: SQLState = "42P01"
    public static let undefinedParameter: SQLState = "42P02"
    public static let duplicateCursor: SQLState = "42P03"
    public static let duplicateDatabase: SQLState = "42P04"
    public static let duplicatePreparedStatement: SQLState = "42P05"
    public static let duplicateTable: SQLState = "42P07"
    public static let ambiguousParameter: SQLState = "42P08"
    public static let invalidColumnReference: SQLState = "42P10"
    public static let invalidCursorDefinition: SQLState = "42P11"
    public static let invalidTableDefinition: SQLState = "42P16"
    public static let invalidObjectDefinition: SQLState = "42P17"
    public static let indeterminateDatatype: SQLState = "42P18"

    // Class 53: insufficient resources
    public static let insufficientResources: SQLState = "53000"
    public static let diskFull: SQLState = "53100"
    public static let outOfMemory: SQLState = "53200"
    public static let tooManyConnections: SQLState = "53300"
    public static let configurationLimitExceeded: SQLState = "53400"

    // Class 54: program limit exceeded
    public static let programLimitExceeded: SQLState = "54000"
    public static let statementTooComplex: SQLState = "54001"
    public static let tooManyColumns: SQLState = "54011"
    public static let tooManyArguments: SQLState = "54023"

    // Class 55: object not in prerequisite state
    public static let objectNotInPrerequisiteState: SQLState = "55000"
    public static let objectInUse: SQLState = "55006"
    public static let cantChangeRuntimeParam: SQLState = "55P02"
    public static let lockNotAvailable: SQLState = "55P03"

    // Class 57: operator intervention
    public static let operatorIntervention: SQLState = "57000"
    public static let queryCanceled: SQLState = "57014"
    public static let adminShutdown: SQLState = "57P01"
    public static let crashShutdown: SQLState = "57P02"
    public static let cannotConnectNow: SQLState = "57P03"
    public static let databaseDropped: SQLState = "57P04"
    public static let idleSessionTimeout: SQLState = "57P05"

    // Class 58: system error
    public static let systemError: SQLState = "58000"
    public static let ioError: SQLState = "58030"
    public static let undefinedFile: SQLState = "58P01"
    public static let duplicateFile: SQLState = "58P02"

    // Class F0, P0: configuration file, PL/pgSQL
    public static let configFileError: SQLState = "F0000"
    public static let raiseException: SQLState = "P0001"

    // Class XX: internal error
    public static let internalError: SQLState = "XX000"
    public static let dataCorrupted: SQLState = "XX001"
    public static let indexCorrupted: SQLState = "XX002"
}
