import PostgresWire
import SQLite

/// PostgreSQL's catalog functions, on a catalog's private connection.
/// https://www.postgresql.org/docs/15/functions-info.html
enum CatalogFunctions {
    static func register(on connection: Connection, _ contents: CatalogContents) {
        registerDefinitions(on: connection, contents)
        registerNames(on: connection, contents)
        registerConstants(on: connection)
        registerConversions(on: connection)
        CatalogFormat.register(on: connection)
        registerCursors(on: connection)
        CatalogArrays.register(on: connection)
        registerPatterns(on: connection)
    }

    /// "The infix LIKE operator is implemented by calling the application-defined SQL functions like(Y,X) or like(Y,X,Z)", and REGEXP by
    /// regexp(Y,X): https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
    private static func registerPatterns(on connection: Connection) {
        typealias Match = @Sendable (_ text: String, _ pattern: String) throws(CatalogPattern.Failure) -> Bool
        let operators: [(name: StaticString, matches: Match)] = [
            ("regexp", { text, pattern throws(CatalogPattern.Failure) in try CatalogPattern.matches(text, pattern: pattern) }),
            ("like", { text, pattern throws(CatalogPattern.Failure) in try CatalogPattern.isLike(text, pattern: pattern) }),
        ]
        for (name, matches) in operators {
            connection.register(name, 2, .deterministic) { call in
                guard !call.hasNull else { return call.answerNull() }
                do throws(CatalogPattern.Failure) {
                    call.answer(try matches(call.text(1), call.text(0)))
                } catch {
                    call.fail(error.message)
                }
            }
        }
    }

    private static func oid(_ call: FunctionCall, _ index: Int = 0) -> UInt32 {
        UInt32(truncatingIfNeeded: call.integer(index))
    }

    private static func registerDefinitions(on connection: Connection, _ contents: CatalogContents) {
        for count in [1, 2, 3] {
            connection.register("pg_get_indexdef", count, .deterministic) { call in
                guard let definition = contents.indexDefinitions[oid(call)] else { return call.answerNull() }
                let column = count > 1 ? Int(call.integer(1)) : 0
                if column == 0 { return call.answer(definition.whole) }
                call.answer(column <= definition.columns.count && column > 0 ? definition.columns[column - 1] : "")
            }
        }
        for count in [1, 2] {
            connection.register("pg_get_constraintdef", count, .deterministic) { call in
                guard !call.hasNull, let definition = contents.constraintDefinitions[oid(call)] else { return call.answerNull() }
                // Without the pretty form "CHECK ((k > 0))", and by both pairs of parentheses Rails 6 and 7.0 find the condition.
                let isPlainCheck = definition.hasPrefix("CHECK (") && !(count == 2 && call.integer(1) != 0)
                call.answer(isPlainCheck ? "CHECK (" + definition.dropFirst(6) + ")" : definition)
            }
            connection.register("pg_get_viewdef", count, .deterministic) { call in
                let relation = call.storageClass(0) == .text ? contents.oid(ofRelation: call.text(0)) ?? oid(call) : oid(call)
                call.answer(contents.viewDefinitions[relation])
            }
            connection.register("pg_get_triggerdef", count, .deterministic) {
                $0.answer(contents.triggerDefinitions[oid($0)])
            }
            connection.register("pg_get_ruledef", count, .deterministic) { $0.answerNull() }
        }
        // The properties of a B-tree's columns, https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-INFO-INDEX-COLUMN-PROPS
        connection.register("pg_index_column_has_property", 3, .deterministic) { call in
            let column = Int(call.integer(1))
            guard let descending = contents.indexDefinitions[oid(call)]?.descending, column > 0, column <= descending.count else {
                return call.answerNull()
            }
            switch call.text(2) {
            case "asc", "nulls_last": call.answer(!descending[column - 1])
            case "desc", "nulls_first": call.answer(descending[column - 1])
            case "orderable", "returnable", "search_array", "search_nulls": call.answer(true)
            case "distance_orderable": call.answer(false)
            default: call.answerNull()
            }
        }
        connection.register("pg_column_is_updatable", 3, .deterministic) { call in
            call.hasNull
                ? call.answerNull() : call.answer(contents.viewDefinitions[oid(call)] == nil && contents.relations[oid(call)] != nil)
        }
        // Expressions are kept as text, so that is what they are.
        for count in [2, 3] { connection.register("pg_get_expr", count, .deterministic) { $0.answer(argument: 0) } }
        // For the information schema's key_column_usage; the second argument counts from 0.
        connection.register("pg_referred_position", 2, .deterministic) { call in
            guard let positions = contents.referredPositions[oid(call)], let index = Int(exactly: call.integer(1)),
                positions.indices.contains(index), let position = positions[index]
            else { return call.answerNull() }
            call.answer(Int64(position))
        }
        connection.register("pg_foreign_key_action", 1, .deterministic) { call in
            let names = ["r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"]
            call.answer(names[call.text(0)] ?? "NO ACTION")
        }
    }

    /// `x::integer` and `x::text` where SQLite's CAST makes something else.
    private static func registerConversions(on connection: Connection) {
        connection.register("pg_integer", 1, .deterministic) { call in
            switch call.storageClass(0) {
            case .text:
                guard let number = TextCodec.parseInt(call.bytes(0)) else {
                    return call.fail("invalid input syntax for type integer: \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\"")
                }
                call.answer(number)
            case .real:
                // As numeric, which an average and a number with a point are: away from zero where two are as near.
                let rounded = call.double(0).rounded(.toNearestOrAwayFromZero)
                guard let number = Int64(exactly: rounded) else { return call.fail("integer overflow") }
                call.answer(number)
            default: call.answer(argument: 0)
            }
        }
        connection.register("pg_bool_text", 1, .deterministic) { call in
            call.isNull(0) ? call.answerNull() : call.answer(call.integer(0) != 0 ? "true" : "false")
        }
    }

    /// What the view pg_cursors is made of.
    private static func registerCursors(on connection: Connection) {
        // The connection owns its functions and their callbacks, so a function must not own those; and it is called by that
        // connection's statements only.
        let cursors = { [unowned(unsafe) callbacks = connection.callbacks] in callbacks.sessionFacts?()?.cursors() ?? [] }
        let cursor = { (name: String) in cursors().first { ExactName($0.name) == ExactName(name) } }
        connection.register("pg_cursor_names", 0, .volatile) { $0.answer(CatalogArrays.json(cursors().map(\.name).sorted())) }
        connection.register("pg_cursor_statement", 1, .volatile) { $0.answer(cursor($0.text(0))?.statement) }
        connection.register("pg_cursor_is_binary", 1, .volatile) { $0.answer(cursor($0.text(0))?.isBinary ?? false) }
        connection.register("pg_cursor_is_holdable", 1, .volatile) { $0.answer(cursor($0.text(0))?.isHoldable ?? false) }
    }
}
