import CSQLite

/// `unnest(array, …)` as a table: the elements of several arrays side by side, those of shorter ones followed by NULL
/// (https://www.postgresql.org/docs/current/functions-array.html). Arrays are JSON's here: see `UnnestScan`.
///
/// A table's columns do not depend on its arguments, so there is one for each number of arrays: `unnest(array)`,
/// `walpool_unnest_2(json_array(array, array))` and so on. Each has one argument, for SQLite looks at its own copy of a constraint again
/// from the seventeenth on (`omitMask` of whereLoopAddVirtualOne in https://www.sqlite.org/src/file/src/where.c), and an array may be NULL.
/// To join json_each() by its key would be quadratic, as SQLite makes no index of it.
public enum Unnest {
    /// The most arrays side by side; bulk inserts have one for each column.
    public static let most = 100

    /// The call of the table for so many arrays; what a statement calls unnest() with two and more has to be written so.
    public static func call(_ arrays: [[UInt8]]) -> [UInt8] {
        let list = arrays.joined(separator: ", ".utf8)
        let name = names(of: arrays.count)[0]
        return arrays.count == 1
            ? Array("\(name)(".utf8) + list + Array(")".utf8) : Array("\(name)(json_array(".utf8) + list + Array("))".utf8)
    }

    private static let namePrefix = "walpool_unnest_"
    /// What a call of one array is rewritten to.
    public static let nameOfOne: StaticString = "walpool_unnest_1"

    /// That of one array has its own name, too, for who calls it in a view. A statement is rewritten to the other, which no table has.
    private static func names(of count: Int) -> [String] { ["\(namePrefix)\(count)"] + (count == 1 ? ["unnest"] : []) }

    private static func count(in name: UnsafePointer<CChar>) -> Int { Int(String(cString: name).dropFirst(namePrefix.count)) ?? 1 }

    private static let needsArray = "unnest() needs an array"

    /// Its columns, by their place.
    public static func column(_ index: Int) -> String { index == 0 ? "unnest" : "unnest_\(index + 1)" }

    /// Which row it is, beginning with 1: WITH ORDINALITY.
    public static let ordinality = "rowid"

    private typealias Table = walpool_unnest_table
    private typealias Cursor = walpool_unnest_cursor

    /// Written once, by the initialiser of this `static let`, and only read afterwards, by any thread.
    nonisolated(unsafe) private static let module = TableModule.allocated { module in
        module.xConnect = connect
        module.xBestIndex = bestIndex
        module.xOpen = open
        module.xClose = close
        module.xFilter = filter
        module.xNext = { cursor in
            scan(cursor).advance()
            return SQLITE_OK
        }
        module.xEof = { scan($0).isDone ? 1 : 0 }
        module.xColumn = value
        module.xRowid = { cursor, row in
            row?.pointee = scan(cursor).row
            return SQLITE_OK
        }
    }

    static func register(on connection: Connection) {
        // Not retained: it is the connection's.
        let callbacks = Unmanaged.passUnretained(connection.callbacks).toOpaque()
        for count in 1...most {
            for name in names(of: count) { _ = sqlite3_create_module_v2(connection.handle, name, module, callbacks, nil) }
        }
    }

    private static let connect:
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32 = { connection, callbacks, _, arguments, table, _ in
            let count = arguments?[0].map(count(in:)) ?? 1
            let columns = (0..<count).map { column($0) } + ["walpool_arrays HIDDEN"]
            return TableModule.connect(
                connection, "CREATE TABLE x (\(columns.joined(separator: ", ")))",
                Table(base: sqlite3_vtab(), callbacks: callbacks, count: Int32(count)), table)
        }

    /// The argument arrives as the constraint `walpool_arrays = ?`.
    private static let bestIndex: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 =
        { table, info in
            guard let info else { return SQLITE_ERROR }
            var position: Int?
            for index in 0..<Int(info.pointee.nConstraint) {
                let constraint = info.pointee.aConstraint[index]
                guard constraint.iColumn == of(table).pointee.count, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
                // An argument that is not known yet: another order of the tables will know it.
                guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
                position = position ?? index
            }
            guard let position else {
                table?.pointee.zErrMsg = walpool_message(needsArray)
                return SQLITE_ERROR
            }
            info.pointee.aConstraintUsage[position].argvIndex = 1
            info.pointee.aConstraintUsage[position].omit = 1
            info.pointee.estimatedCost = 1000
            info.pointee.estimatedRows = 1000
            return SQLITE_OK
        }

    // MARK: Scans

    private static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
        ) -> Int32 = { table, cursor in
            guard let memory = sqlite3_malloc(Int32(MemoryLayout<Cursor>.size)) else { return SQLITE_NOMEM }
            let scan = Unmanaged.passRetained(UnnestScan(isToStop: stopper(of: of(table)))).toOpaque()
            memory.bindMemory(to: Cursor.self, capacity: 1).initialize(to: Cursor(base: sqlite3_vtab_cursor(), scan: scan))
            cursor?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }

    private static let close: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 = { cursor in
        Unmanaged.passUnretained(scan(cursor)).release()
        sqlite3_free(cursor)
        return SQLITE_OK
    }

    private static let filter:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab_cursor>?, Int32, UnsafePointer<CChar>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { cursor, _, _, _, values in
            guard let value = values?[0] else { return SQLITE_ERROR }
            let table = of(cursor?.pointee.pVtab)
            do throws(UnnestScan.Failure) { try scan(cursor).begin(value, columns: Int(table.pointee.count)) } catch {
                switch error {
                case .outOfMemory: return SQLITE_NOMEM
                case .isStopped: return SQLITE_INTERRUPT
                case .isNoArray, .isMalformed:
                    sqlite3_free(table.pointee.base.zErrMsg)
                    table.pointee.base.zErrMsg = walpool_message(error == .isNoArray ? needsArray : "malformed JSON")
                    return SQLITE_ERROR
                }
            }
            return SQLITE_OK
        }

    private static let value: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?, OpaquePointer?, Int32) -> Int32 = {
        cursor, context, column in
        let count = of(cursor?.pointee.pVtab).pointee.count
        if column == count {
            sqlite3_result_value(context, scan(cursor).argument)
        } else if (0..<count).contains(column) {
            scan(cursor).answer(Int(column), context)
        }
        return SQLITE_OK
    }

    private static func scan(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnnestScan {
        let cursor = UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: Cursor.self)
        return Unmanaged<UnnestScan>.fromOpaque(cursor.pointee.scan).takeUnretainedValue()
    }

    /// SQLite asks by itself every thousand instructions, and each may begin a scan of millions of elements. It calls a table's methods for as
    /// long as its connection is open, and that owns its callbacks.
    private static func stopper(of table: UnsafeMutablePointer<Table>) -> () -> Bool {
        let callbacks = Unmanaged<Callbacks>.fromOpaque(table.pointee.callbacks).takeUnretainedValue()
        return { [unowned(unsafe) callbacks] in callbacks.onProgress?() ?? false }
    }

    private static func of(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> UnsafeMutablePointer<Table> {
        UnsafeMutableRawPointer(table!).assumingMemoryBound(to: Table.self)
    }
}
