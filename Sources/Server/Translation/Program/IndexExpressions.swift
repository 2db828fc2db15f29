import SQLite

/// What an index holds where it is of expressions: what the program calculates that would make it anew.
///
/// "The REINDEX command is used to delete and recreate indices from scratch" (https://www.sqlite.org/lang_reindex.html), so its program
/// has each expression as instructions, between the table's columns and the record it sorts.
enum IndexExpressions {
    /// In the index's order, plain columns among them; empty where nothing is known of them.
    static func values(_ index: String, on connection: Connection) throws(SQLiteError) -> [ProgramValue] {
        // Without a schema's name it may mean a collation: an index may be called nocase.
        let sql = Array("REINDEX main.\(SQLQuoting.identifier(index))".utf8)
        let listed = sql.withUnsafeBytes { bytes in
            Result { () throws(SQLiteError) in try Instruction.list(bytes, on: connection) }
        }
        guard let program = try listed.get() else { return [] }
        var schema = SchemaColumns(connection, readsExpressions: false)
        let cursors = ProgramCursors(program, schema: &schema)
        guard var interpreter = ProgramInterpreter(program, cursors: cursors, isToStop: connection.callbacks.onProgress), interpreter.run(),
            let sorter = program.first(where: { $0.opcode == .sorterOpen })
        else { return [] }
        return interpreter.contents[sorter.p1]?.fields ?? []
    }
}
