/// The instructions of SQLite's virtual machine that statements for data are made of, by the names EXPLAIN gives them
/// (https://www.sqlite.org/opcode.html), and those that make an index. Those of 3.40, and those that later releases have added up to
/// 3.51.
enum Opcode: String, Sendable {
    // Where the program goes on.
    case initialize = "Init"
    case goto = "Goto", gosub = "Gosub", returning = "Return", jump = "Jump", halt = "Halt", haltIfNull = "HaltIfNull"
    case initCoroutine = "InitCoroutine", endCoroutine = "EndCoroutine", yield = "Yield", once = "Once"
    case beginSubroutine = "BeginSubrtn"
    // Jumps that depend on a register.
    case branchIf = "If", branchIfNot = "IfNot", isNull = "IsNull", notNull = "NotNull", isType = "IsType"
    case ifPos = "IfPos", ifNotZero = "IfNotZero", decrementJumpZero = "DecrJumpZero", mustBeInt = "MustBeInt"
    case equal = "Eq", notEqual = "Ne", less = "Lt", lessOrEqual = "Le", greater = "Gt", greaterOrEqual = "Ge"
    case elseEqual = "ElseEq"
    // Jumps that depend on a cursor.
    case rewind = "Rewind", last = "Last", sort = "Sort", sorterSort = "SorterSort", ifSmaller = "IfSmaller"
    case ifSizeBetween = "IfSizeBetween", ifEmpty = "IfEmpty"
    case next = "Next", previous = "Prev", sorterNext = "SorterNext", virtualNext = "VNext", virtualFilter = "VFilter"
    case ifNullRow = "IfNullRow", ifNotOpen = "IfNotOpen", sorterCompare = "SorterCompare", filter = "Filter"
    case rowSetRead = "RowSetRead", rowSetTest = "RowSetTest", seekScan = "SeekScan", foreignKeyIfZero = "FkIfZero"
    case virtualInitIn = "VInitIn"
    // Jumps that depend on a cursor and on registers.
    case seekRowid = "SeekRowid", notExists = "NotExists"
    case seekLess = "SeekLT", seekLessOrEqual = "SeekLE", seekGreaterOrEqual = "SeekGE", seekGreater = "SeekGT"
    case indexLess = "IdxLT", indexLessOrEqual = "IdxLE", indexGreater = "IdxGT", indexGreaterOrEqual = "IdxGE"
    case found = "Found", notFound = "NotFound", noConflict = "NoConflict", ifNoHope = "IfNoHope"
    // What compares registers with each other, and a key with a row that it takes away.
    case compare = "Compare", indexDelete = "IdxDelete"
    // Values.
    case variable = "Variable", integer = "Integer", int64 = "Int64", real = "Real", string8 = "String8"
    case string = "String", blob = "Blob", null = "Null", softNull = "SoftNull"
    case move = "Move", copy = "Copy", shallowCopy = "SCopy", intCopy = "IntCopy"
    case affinity = "Affinity", realAffinity = "RealAffinity", cast = "Cast", typeCheck = "TypeCheck"
    case add = "Add", subtract = "Subtract", multiply = "Multiply", divide = "Divide", remainder = "Remainder"
    case bitAnd = "BitAnd", bitOr = "BitOr", shiftLeft = "ShiftLeft", shiftRight = "ShiftRight", bitNot = "BitNot"
    case concatenate = "Concat", and = "And", or = "Or", not = "Not", isTrue = "IsTrue", zeroOrNull = "ZeroOrNull"
    case addImmediate = "AddImm", offsetLimit = "OffsetLimit", memoryMax = "MemMax"
    case function = "Function", pureFunction = "PureFunc"
    case aggregateStep = "AggStep", aggregateInverse = "AggInverse", aggregateValue = "AggValue"
    case aggregateFinal = "AggFinal"
    // Cursors and their rows.
    case openRead = "OpenRead", openWrite = "OpenWrite", reopenIndex = "ReopenIdx", openDuplicate = "OpenDup"
    case openEphemeral = "OpenEphemeral", openAutoindex = "OpenAutoindex", sorterOpen = "SorterOpen"
    case openPseudo = "OpenPseudo", virtualOpen = "VOpen", close = "Close"
    case makeRecord = "MakeRecord", column = "Column", virtualColumn = "VColumn", rowid = "Rowid"
    case indexRowid = "IdxRowid", newRowid = "NewRowid", sequence = "Sequence", sequenceTest = "SequenceTest"
    case count = "Count", offset = "Offset", rowData = "RowData", sorterData = "SorterData"
    case insert = "Insert", sorterInsert = "SorterInsert", indexInsert = "IdxInsert", resultRow = "ResultRow"
    case virtualIn = "VIn", readCookie = "ReadCookie"
    // What changes no register that a value comes out of.
    case transaction = "Transaction", noop = "Noop", explain = "Explain", collation = "CollSeq"
    case permutation = "Permutation", nullRow = "NullRow", deferredSeek = "DeferredSeek", finishSeek = "FinishSeek"
    case delete = "Delete", resetSorter = "ResetSorter", clear = "Clear"
    case foreignKeyCheck = "FkCheck", foreignKeyCounter = "FkCounter", resetCount = "ResetCount"
    case expire = "Expire", tableLock = "TableLock", columnsUsed = "ColumnsUsed", releaseRegisters = "ReleaseReg"
    case cursorLock = "CursorLock", cursorUnlock = "CursorUnlock", cursorHint = "CursorHint", seekHit = "SeekHit"
    case filterAdd = "FilterAdd", rowSetAdd = "RowSetAdd", program = "Program", virtualUpdate = "VUpdate"
    case virtualBegin = "VBegin", trace = "Trace", abortable = "Abortable", rowCell = "RowCell"
    case seekEnd = "SeekEnd"
    case setSubtype = "SetSubtype", getSubtype = "GetSubtype", clearSubtype = "ClrSubtype"

    /// Goes on at P2 or at the next instruction.
    var branches: Bool {
        switch self {
        case .once, .branchIf, .branchIfNot, .isNull, .notNull, .isType, .ifPos, .ifNotZero, .decrementJumpZero,
            .mustBeInt, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .elseEqual, .rewind, .last,
            .sort, .sorterSort, .ifSmaller, .ifSizeBetween, .ifEmpty, .next, .previous, .sorterNext, .virtualNext,
            .virtualFilter, .ifNullRow, .ifNotOpen, .sorterCompare, .filter, .rowSetRead, .rowSetTest, .seekScan,
            .foreignKeyIfZero, .virtualInitIn, .seekRowid, .notExists, .seekLess, .seekLessOrEqual,
            .seekGreaterOrEqual, .seekGreater, .indexLess, .indexLessOrEqual, .indexGreater, .indexGreaterOrEqual,
            .found, .notFound, .noConflict, .ifNoHope, .sequenceTest, .program:
            true
        default: false
        }
    }

    /// Asks what is in the rows of cursor P1.
    var readsRows: Bool { self == .column || self == .rowData || looksForRows }

    /// Looks for a row of cursor P1 by what is in it.
    var looksForRows: Bool {
        switch self {
        case .seekLess, .seekLessOrEqual, .seekGreaterOrEqual, .seekGreater, .indexLess, .indexLessOrEqual,
            .indexGreater, .indexGreaterOrEqual, .found, .notFound, .noConflict, .ifNoHope:
            true
        default: false
        }
    }
}
