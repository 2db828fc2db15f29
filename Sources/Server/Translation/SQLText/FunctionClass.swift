/// What is known of an expression's value without running it. NULL is always possible beside it.
enum ExpressionClass: Sendable, Equatable {
    case null, int8, float8, text, bytea
    /// 1 or 0: what comparisons, NOT, EXISTS and their like make.
    case bool
    /// Integer or real.
    case numeric
    /// Text or, for a blob argument, a blob: substr() and its like.
    case textOrBytes
    /// A boolean if that is what the columns in it are declared as: `coalesce(flag, false)`. Only where it is asked for.
    case perhapsBoolean

    var isInteger: Bool { self == .int8 || self == .bool }
    var isNumber: Bool { isInteger || self == .float8 || self == .numeric }
    var isText: Bool { self == .text || self == .textOrBytes }

    /// The class of a value that comes from either of two expressions.
    func merged(_ other: ExpressionClass) -> ExpressionClass? {
        if self == other || other == .null { return self }
        if self == .null { return other }
        if (self == .perhapsBoolean && other == .bool) || (self == .bool && other == .perhapsBoolean) { return .perhapsBoolean }
        if isInteger, other.isInteger { return .int8 }
        if isNumber, other.isNumber { return .numeric }
        return nil
    }

    /// SQLite's affinity rules, in their order (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
    /// A CAST converts to its affinity; NUMERIC leaves open whether integer or real comes out.
    init(castTo type: String) {
        if type.contains("int") {
            self = .int8
        } else if type.contains("char") || type.contains("clob") || type.contains("text") {
            self = .text
        } else if type.contains("blob") {
            self = .bytea
        } else if type.contains("real") || type.contains("floa") || type.contains("doub") {
            self = .float8
        } else {
            self = .numeric
        }
    }

    /// The result of SQLite's built-in functions where it does not depend on the arguments
    /// (https://www.sqlite.org/lang_corefunc.html, lang_aggfunc.html, lang_datefunc.html, lang_mathfunc.html), and of the daemon's own
    /// (see `registerFunctions` in SQLite).
    init?(function: String) {
        switch function {
        case "count", "length", "octet_length", "instr", "unicode", "changes", "total_changes", "last_insert_rowid", "lastval",
            "row_number", "rank", "dense_rank", "ntile", "random", "json_array_length", "json_valid", "glob", "like", "sign",
            "char_length", "character_length", "strpos", "pg_backend_pid":
            self = .int8
        case "starts_with", "bool_and", "bool_or", "every": self = .bool
        case "total", "avg", "julianday", "round", "mod", "date_part", "percent_rank", "cume_dist", "sqrt", "exp", "ln", "log", "log2",
            "log10", "pow", "power", "pi", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "radians", "degrees", "stddev",
            "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp":
            self = .float8
        case "sum", "abs", "ceil", "ceiling", "floor", "trunc", "unixepoch":
            self = .numeric
        case "upper", "lower", "trim", "ltrim", "rtrim", "printf", "format", "hex", "quote", "typeof",
            "group_concat", "string_agg", "concat", "concat_ws", "date", "time", "datetime", "strftime", "timediff",
            "char", "soundex", "sqlite_version", "sqlite_source_id", "json", "json_array", "json_object",
            "json_insert", "json_replace", "json_set", "json_patch", "json_remove", "json_quote", "json_type",
            "json_group_array", "json_group_object", "md5", "repeat", "reverse", "initcap", "left", "right", "lpad", "rpad",
            "split_part", "now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "date_trunc", "gen_random_uuid",
            "current_user", "session_user", "current_role", "current_database", "current_catalog", "current_schema", "version",
            "set_config", "current_setting", "pg_sleep":
            self = .text
        case "substr", "substring": self = .textOrBytes
        case "zeroblob", "randomblob", "unhex": self = .bytea
        // replace() is missing on purpose: with an empty pattern it returns its first argument, of whatever class.
        default: return nil
        }
    }

    /// What the argument of a function has to be: nil where the function tells integers from text, so that the
    /// class of the value matters and nothing says which is meant. `textOrBytes`: a text, unless a column that the same value meets says
    /// otherwise, as in `VALUES ($1, md5($1))`.
    static func argument(of function: String, at index: Int) -> ExpressionClass? {
        switch function {
        case "upper", "lower", "trim", "ltrim", "rtrim", "replace", "instr", "length", "unicode", "date", "time",
            "datetime", "strftime", "julianday", "unixepoch", "like", "glob", "json", "json_extract", "json_valid",
            "json_array_length", "json_type", "json_each", "json_tree", "soundex", "unhex", "concat", "concat_ws":
            .text
        case "hex", "md5", "reverse", "initcap", "char_length", "character_length", "strpos", "starts_with", "date_trunc", "date_part",
            "current_setting", "set_config":
            .textOrBytes
        // What the client gives no type is a text, as in PostgreSQL; one of digits is an index to SQLite all the same.
        case "->", "->>": .text
        case "string_agg", "group_concat": index == 1 ? .textOrBytes : nil
        case "repeat", "left", "right", "lpad", "rpad": index == 1 ? .numeric : .textOrBytes
        case "split_part": index == 2 ? .numeric : .textOrBytes
        case "printf", "format": index == 0 ? .text : nil
        case "substr", "substring": index == 0 ? .text : .numeric
        case "abs", "sign", "ceil", "ceiling", "floor", "trunc", "mod", "round", "sqrt", "exp", "ln", "log", "log2",
            "log10", "pow", "power", "sum", "total", "avg", "char", "zeroblob", "randomblob", "ntile", "pg_sleep", "stddev",
            "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp":
            .numeric
        default: nil
        }
    }
}
