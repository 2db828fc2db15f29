import CSQLite

/// `unnest(array, …)` as a table: the elements of several arrays side by side, those of shorter ones followed by NULL
/// (https://www.postgresql.org/docs/current/functions-array.html). Arrays are JSON's here, and json_each() takes each apart.
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
        return arrays.count == 1
            ? Array("unnest(".utf8) + list + Array(")".utf8)
            : Array("\(name(of: arrays.count))(json_array(".utf8) + list + Array("))".utf8)
    }

    private static func name(of count: Int) -> String { count == 1 ? "unnest" : "walpool_unnest_\(count)" }

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
        module.xNext = { next(of($0)) }
        module.xEof = { of($0).pointee.is_done }
        module.xColumn = value
        module.xRowid = { cursor, row in
            row?.pointee = of(cursor).pointee.row
            return SQLITE_OK
        }
    }

    static func register(on connection: OpaquePointer) {
        for count in 1...most {
            _ = sqlite3_create_module_v2(connection, name(of: count), module, UnsafeMutableRawPointer(bitPattern: count), nil)
        }
    }

    private static let connect:
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32 = { connection, places, _, _, table, _ in
            let count = Int(bitPattern: places)
            let columns = (0..<count).map { column($0) } + ["walpool_arrays HIDDEN"]
            return TableModule.connect(
                connection, "CREATE TABLE x (\(columns.joined(separator: ", ")))",
                Table(base: sqlite3_vtab(), connection: connection, count: Int32(count)), table)
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
                table?.pointee.zErrMsg = walpool_message("unnest() needs an array")
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
            let count = of(table).pointee.count
            let bytes = Int32(MemoryLayout<OpaquePointer?>.stride) * count
            guard let memory = sqlite3_malloc(Int32(MemoryLayout<Cursor>.size)) else { return SQLITE_NOMEM }
            guard let arrays = sqlite3_malloc(bytes) else {
                sqlite3_free(memory)
                return SQLITE_NOMEM
            }
            let typed = arrays.bindMemory(to: OpaquePointer?.self, capacity: Int(count))
            typed.initialize(repeating: nil, count: Int(count))
            var opened = Cursor()
            (opened.arrays, opened.count) = (typed, count)
            memory.bindMemory(to: Cursor.self, capacity: 1).initialize(to: opened)
            cursor?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }

    private static let close: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 = { cursor in
        let arrays = of(cursor).pointee.arrays
        for index in 0..<Int(of(cursor).pointee.count) { sqlite3_finalize(arrays?[index]) }
        sqlite3_free(arrays)
        sqlite3_value_free(of(cursor).pointee.argument)
        sqlite3_free(cursor)
        return SQLITE_OK
    }

    private static let filter:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab_cursor>?, Int32, UnsafePointer<CChar>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { cursor, _, _, _, values in
            let scan = of(cursor)
            scan.pointee.row = 0
            sqlite3_value_free(scan.pointee.argument)
            scan.pointee.argument = sqlite3_value_dup(values?[0])
            guard let argument = scan.pointee.argument else { return SQLITE_NOMEM }
            for index in 0..<Int(scan.pointee.count) {
                let array = scan.pointee.arrays + index
                if array.pointee == nil {
                    let code = sqlite3_prepare_v2(connection(of: scan), elements(index, of: Int(scan.pointee.count)), -1, array, nil)
                    guard code == SQLITE_OK else { return failed(scan, code) }
                }
                sqlite3_reset(array.pointee)
                let code = sqlite3_bind_value(array.pointee, 1, argument)
                guard code == SQLITE_OK else { return failed(scan, code) }
            }
            return step(scan) { _ in true }
        }

    /// Several are elements of one array: as texts, or where they are json_array()'s own as arrays, of which json_extract() makes texts.
    private static func elements(_ index: Int, of count: Int) -> String {
        "SELECT value FROM json_each(\(count == 1 ? "?1" : "json_extract(?1, '$[\(index)]')"))"
    }

    private static func next(_ scan: UnsafeMutablePointer<Cursor>) -> Int32 { step(scan) { sqlite3_data_count($0) > 0 } }

    /// Those arrays that `isDue` go to their next element; it is done where no array has one.
    private static func step(_ scan: UnsafeMutablePointer<Cursor>, _ isDue: (OpaquePointer?) -> Bool) -> Int32 {
        scan.pointee.row += 1
        scan.pointee.is_done = 1
        for index in 0..<Int(scan.pointee.count) {
            let array = scan.pointee.arrays[index]
            guard isDue(array) else { continue }
            switch sqlite3_step(array) {
            case SQLITE_ROW: scan.pointee.is_done = 0
            case SQLITE_DONE: break
            case let code: return failed(scan, code)
            }
        }
        return SQLITE_OK
    }

    private static let value: @convention(c) (UnsafeMutablePointer<sqlite3_vtab_cursor>?, OpaquePointer?, Int32) -> Int32 = {
        cursor, context, column in
        let scan = of(cursor).pointee
        if column == scan.count {
            sqlite3_result_value(context, scan.argument)
        } else if column < scan.count, let array = scan.arrays[Int(max(column, 0))], sqlite3_data_count(array) > 0 {
            sqlite3_result_value(context, sqlite3_column_value(array, 0))
        }
        return SQLITE_OK
    }

    private static func failed(_ scan: UnsafeMutablePointer<Cursor>, _ code: Int32) -> Int32 {
        sqlite3_free(scan.pointee.base.pVtab.pointee.zErrMsg)
        scan.pointee.base.pVtab.pointee.zErrMsg = walpool_message(sqlite3_errmsg(connection(of: scan)))
        return code
    }

    private static func connection(of scan: UnsafeMutablePointer<Cursor>) -> OpaquePointer? {
        of(scan.pointee.base.pVtab).pointee.connection
    }

    private static func of(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> UnsafeMutablePointer<Table> {
        UnsafeMutableRawPointer(table!).assumingMemoryBound(to: Table.self)
    }

    private static func of(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor> {
        UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: Cursor.self)
    }
}
