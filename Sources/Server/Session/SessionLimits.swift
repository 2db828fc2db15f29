import SQLite

/// The bounds of a session and of what sessions share, each with its reason. Those of one feature (HTTP, KILL, events taken at a time)
/// stand with it, as do the thresholds of one algorithm.
enum SessionLimits {
    /// Of each thread that runs SQLite; what is not touched costs nothing, neither memory nor MemoryMax=. What clients nest may take
    /// a sixteenth of it while it is put together (CHeap/stack.h), some 2,000 common table expressions; the rest is for what runs over
    /// that without any memory.
    static let stackBytes = 16 << 20
    /// The largest message taken: a value of 64 MiB (SQLite's length limit here) and room for its message.
    static let messageBytes = 80 << 20
    /// Of the JSON that an array becomes, which is the largest value there can be (length_limit_bytes): an element of eight bytes in
    /// binary may be 16,000 digits.
    static let arrayBytes = 64 << 20
    /// A parameter of more than this, or parameters that have more together, may take longer to convert than to ask whether to go on.
    static let longParameterBytes = 64 << 10
    /// As much of a value is quoted in a message that says what is wrong with it.
    static let quotedCharacters = SQLiteError.quotedCharacters
    /// As much of an application_name is kept: PostgreSQL's NAMEDATALEN, less the zero at its end. Of Unicode's scalars, as what is one
    /// character may have any number of marks.
    static let applicationNameScalars = 63
    /// As much of a list of types is told.
    static let typeListCharacters = 200
    /// What a socket is read with at a time.
    static let readBytes = 16 << 10
    /// A client that has sent this much of an unfinished message is not idle. It is one read: an active client sends it in
    /// microseconds, one that drips a byte at a time takes hours (`InputActivity`).
    static let activeBytes = 16 << 10
    /// An idle session gives memory beyond this back.
    static let idleBufferBytes = 16 << 10
    /// A result is sent whenever this much of it is ready, and the statement waits when the client takes none of it.
    static let flushBytes = 32 << 10
    /// Replies in a pipeline that nobody waits for yet are kept up to this, as PostgreSQL's are (its buffer has 8 KB, and
    /// is sent when it is full or the client asks): each send takes most of a KB of the socket's room however little it
    /// sends, so that a client that reads only at its end would have no more room after some 280 statements.
    static let keptReplyBytes = 8 << 10
    /// A larger reply is sent by itself, at once: copying it takes longer than what a system call costs.
    static let replyBytesSentWithOthers = 4 << 10
    /// A reply waits no longer than this for others to be sent with, as far as that is looked at between two events.
    static let replyDelayNanoseconds: Int64 = 100_000
    /// FOR UPDATE NOWAIT waits for the writer so long: short writes of others are over by then, and they are not what it is impatient with.
    static let noWaitMilliseconds: Int64 = 20
    /// A reply waits for no more statements than this to begin: twice as many as sessions are received from at once.
    static let statementsBeforeReply = 32
    /// The most that is kept for a client of results made on the writer, which never waits for a client; and, all together, of what its
    /// open portals have left, since a session may have a thousand of them (`Session.keepRows`).
    static let writerResultBytes = 64 << 20
    /// Named statements, portals and savepoints a session may have: each costs a few hundred bytes.
    static let preparedStatements = 10_000
    static let portals = 1_000
    static let savepoints = 1_000
    /// The longest name of any of these. PostgreSQL cuts names at 63 bytes; here two that differ stay two.
    static let nameBytes = 1_000
    /// What named statements may take, and named portals with their values and the statements that only they have: room for one of
    /// the largest messages, and not for as many as there may be names. Small ones are not counted, only their number is.
    static let keptBytes = 128 << 20
    static let smallBytes = 4 << 10
    /// What a session finds about statements in a schema that others do not see: of a few hundred texts, and room for some with very
    /// many parameters. With more, all is found again.
    static let ownAnalyses = 500
    static let ownAnalysesBytes = 16 << 20
    /// How long one looks what columns a new view has (`Session+SchemaSize`): a usual one takes less than one. It is done with the writer,
    /// and a view of views of views may take for ever.
    static let viewColumnsMilliseconds: Int64 = 50
    /// What those of one count as that takes longer: two thousand, as many as there may be, with short names.
    static let slowViewColumnBytes = 160 << 10
    /// How long one counts those of all views and virtual tables, when those that were made may have filled the limit: 32 MiB are half a
    /// million columns, and are found in half a second.
    static let allColumnsMilliseconds: Int64 = 2_000
    /// Texts of statements that `QueryRegistry` remembers are no longer than this: longer ones are seldom sent twice.
    static let rememberedTextBytes = 16 << 10
    /// What all of one of its generations may take: some thousand statements of the usual kind, or eight with as many parameters as
    /// there may be. A text with what is known of it that takes no more than `rememberedSmallBytes` is bounded by their number.
    static let rememberedBytes = 16 << 20
    static let rememberedSmallBytes = 2 << 10
    /// Space and comments before a statement, besides what a statement may have.
    static let bytesBeforeStatement = 64 << 10
    /// In one Query message: 16 bytes are kept of each, and the shortest has two. A dump of a message's length has fewer.
    static let statementsInQuery = 2_000_000
    /// Settings that a session keeps the text of: those it makes up, whose names have a dot, and those without effect; and the longest
    /// value of any setting. They stay for as long as the session, so together they bound what one takes by this: 13 MB.
    static let customSettings = 200
    static let settingBytes = 64 << 10
    /// Of those settings, what a transaction's savepoints may hold together to go back to: of the largest, what holds and what is to be
    /// kept, once.
    static let heldSettingsBytes = 32 << 20
    /// How often a running statement's client is looked for; the first time after as long.
    static let clientCheckMilliseconds: Int64 = 50
    /// Tables that an error names, of those that keep another from being dropped: to find one more may take as long as to read it.
    static let namedDependents = 10
    /// Messages looked at to see whether a transaction has arrived whole; a longer pipeline keeps the writer instead.
    static let scannedMessages = 20_000
    /// From this many on, the replies of a group are left to another thread while its own runs the next group. Fewer
    /// are sent in less time than that thread takes to wake up.
    static let handedOverMembers = 4
    /// From this many on, two threads send the replies of a group. To call the other takes about as long as to send eight; with 16
    /// members two threads were no faster than one.
    static let sharedAnswers = 24
}
