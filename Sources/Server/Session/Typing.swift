/// How values are announced to a client, and what is done with parameters nobody gives a type: the settings
/// `result_typing` and `untyped_parameters`.
struct Typing: Equatable, Sendable {
    enum Results: String, Sendable {
        /// By what SQLite stores: dates, decimals and the like are text.
        case stored
        /// Columns declared as dates, decimals, UUIDs or JSON are announced as such; a value that is none is an error.
        case declared
        /// Everything is text.
        case text
    }

    enum UntypedParameters: String, Sendable {
        case error, text, number
    }

    var results = Results.stored
    var untypedParameters = UntypedParameters.error
}
