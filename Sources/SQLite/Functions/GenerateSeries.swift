import CSQLite

/// `generate_series(start, stop [, step])` as a table with the column `value`. The sqlite3 shell has one as an extension,
/// the library has none. https://www.sqlite.org/vtab.html#table_valued_functions
enum GenerateSeries {
    private typealias Cursor = walpool_series_cursor

    /// Written once, by the initialiser of this `static let`, and only read afterwards, by any thread.
    nonisolated(unsafe) private static let module = TableModule.allocated { module in
        module.xConnect = connect
        module.xBestIndex = bestIndex
        module.xOpen = { _, cursor in
            guard let memory = sqlite3_malloc(Int32(MemoryLayout<Cursor>.size)) else { return SQLITE_NOMEM }
            let typed = memory.bindMemory(to: Cursor.self, capacity: 1)
            typed.initialize(to: Cursor())
            cursor?.pointee = UnsafeMutableRawPointer(typed).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.xClose = { cursor in
            sqlite3_free(cursor)
            return SQLITE_OK
        }
        module.xFilter = filter
        module.xNext = { cursor in
            advance(of(cursor))
            return SQLITE_OK
        }
        module.xEof = { of($0).pointee.is_done }
        module.xColumn = { cursor, context, column in
            let series = of(cursor).pointee
            let values = [series.value, series.start, series.stop, series.step]
            sqlite3_result_int64(context, values[Int(min(max(column, 0), 3))])
            return SQLITE_OK
        }
        module.xRowid = { cursor, row in
            row?.pointee = of(cursor).pointee.row
            return SQLITE_OK
        }
    }

    static func register(on connection: OpaquePointer) {
        _ = sqlite3_create_module_v2(connection, "generate_series", module, nil, nil)
    }

    private static let connect:
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32 = { connection, _, _, _, table, _ in
            TableModule.connect(
                connection, "CREATE TABLE x (value INT, start INT HIDDEN, stop INT HIDDEN, step INT HIDDEN)", sqlite3_vtab(), table)
        }

    /// The arguments arrive as constraints `start = ?`, `stop = ?`, `step = ?`.
    private static let bestIndex: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?, UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 =
        {
            table, info in
            guard let info else { return SQLITE_ERROR }
            var positions = [-1, -1, -1]
            for index in 0..<Int(info.pointee.nConstraint) {
                let constraint = info.pointee.aConstraint[index]
                guard (1...3).contains(constraint.iColumn), Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
                // An argument that is not known yet: another order of the tables will know it.
                guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
                positions[Int(constraint.iColumn) - 1] = index
            }
            guard positions[0] >= 0, positions[1] >= 0 else {
                table?.pointee.zErrMsg = walpool_message("generate_series needs a start and a stop")
                return SQLITE_ERROR
            }
            for (argument, position) in positions.enumerated() where position >= 0 {
                info.pointee.aConstraintUsage[position].argvIndex = Int32(argument + 1)
                info.pointee.aConstraintUsage[position].omit = 1
            }
            info.pointee.estimatedCost = 1000
            info.pointee.estimatedRows = 1000
            return SQLITE_OK
        }

    private static let filter:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vtab_cursor>?, Int32, UnsafePointer<CChar>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { cursor, _, _, count, values in
            let series = of(cursor)
            let arguments = (0..<Int(count)).map { values![$0] }
            series.pointee.row = 1
            // A NULL anywhere gives no rows, as in PostgreSQL.
            if arguments.contains(where: { sqlite3_value_type($0) == SQLITE_NULL }) {
                series.pointee.is_done = 1
                return SQLITE_OK
            }
            // A date would be a number up to its first dash.
            guard arguments.allSatisfy({ isInteger($0) }) else {
                series.pointee.base.pVtab.pointee.zErrMsg = walpool_message("generate_series takes integers")
                return SQLITE_ERROR
            }
            series.pointee.value = sqlite3_value_int64(arguments[0])
            series.pointee.start = series.pointee.value
            series.pointee.stop = sqlite3_value_int64(arguments[1])
            series.pointee.step = arguments.count > 2 ? sqlite3_value_int64(arguments[2]) : 1
            guard series.pointee.step != 0 else {
                series.pointee.base.pVtab.pointee.zErrMsg = walpool_message("step size cannot equal zero")
                return SQLITE_ERROR
            }
            series.pointee.is_done = isPast(series.pointee.value, series.pointee) ? 1 : 0
            return SQLITE_OK
        }

    private static func isInteger(_ value: OpaquePointer?) -> Bool {
        switch sqlite3_value_numeric_type(value) {
        case SQLITE_INTEGER: true
        // floor() gives a real.
        case SQLITE_FLOAT: Int64(exactly: sqlite3_value_double(value)) != nil
        default: false
        }
    }

    private static func isPast(_ value: Int64, _ series: Cursor) -> Bool {
        series.step > 0 ? value > series.stop : value < series.stop
    }

    private static func advance(_ series: UnsafeMutablePointer<Cursor>) {
        let (next, overflows) = series.pointee.value.addingReportingOverflow(series.pointee.step)
        series.pointee.row += 1
        if overflows || isPast(next, series.pointee) {
            series.pointee.is_done = 1
        } else {
            series.pointee.value = next
        }
    }

    private static func of(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor> {
        UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: Cursor.self)
    }
}
