extension ConfigurationKey {
    static let sessions: [ConfigurationKey] = [
        .sessionTime(
            "statement_timeout", "A statement takes no longer, waiting included",
            details: "It ends with 57014."),
        .sessionTime(
            "lock_timeout", "A statement waits no longer for the writer, a reader or another process",
            details: "It ends with 55P03."),
        .sessionTime(
            "transaction_timeout", "A transaction block takes no longer",
            details: "The session ends with 25P04."),
        .sessionTime(
            "idle_in_transaction_session_timeout", "An open transaction block is idle no longer",
            details: "The session ends with 25P03."),
        .sessionTime(
            "client_write_timeout", "A client that takes nothing of its result for this long is disconnected"),
        .sessionTime(
            "queue_notice", zero: "never",
            "A client that waits this long for the writer, or for a reader, gets a NOTICE",
            details: "It tells the client's place and who has the writer."),
        .sessionDefault(
            "default_transaction_isolation",
            form: "\"read committed\", \"repeatable read\" or \"serializable\"", "What BEGIN begins"),
        .sessionDefault(
            "default_transaction_read_only", form: "true or false", "Transactions only read: writes get 25006",
            details: "\"on\" stands for true, \"off\" for false."),
        .sessionDefault(
            "result_typing", form: "\"stored\", \"declared\" or \"text\"", "How result columns are announced",
            details: "\"stored\" goes by what SQLite stores: dates and decimals are text. \"declared\" announces them as "
                + "such, and a value that is none is an error. \"text\" announces every column as text."),
        .sessionDefault(
            "like_escape", form: "\"none\" or \"backslash\"", "What escapes % and _ in a pattern of LIKE without ESCAPE",
            details: "\"none\" is SQLite's, \"backslash\" PostgreSQL's, on which Django's and Rails' searches rely."),
        .sessionDefault(
            "untyped_parameters", form: "\"error\", \"text\" or \"number\"",
            "What a parameter is that nothing gives a type",
            details: "\"error\" is 42P18 for a value that is not NULL; \"number\" takes a text that looks like one for one."),
    ]
}
