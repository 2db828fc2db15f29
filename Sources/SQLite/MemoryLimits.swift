import CHeap

/// How much memory SQLite may take, for values, sorting, parsing and the rest, its page caches included.
///
/// Statements from strangers need it: `SQLITE_LIMIT_LENGTH` bounds one value, and a row may have thousands of them; and a
/// common table expression that names the one before it twice, thirty times over, is a billion tables to SQLite's parser.
public struct MemoryLimits: Equatable, Sendable {
    /// Of one statement, or of what a session has sent at once; 0 is no limit. A value of 64 MiB (the length limit) is copied
    /// two or three times on its way.
    public var statementBytes = 256 << 20
    /// Of all connections together; 0 is no limit. Beyond it statements fail that take more than `shareBytes`: a client may
    /// keep many statements open that each stay within their own limit.
    public var totalBytes = 1 << 30
    /// Of the schema, in each connection: what reads it has to have room for its own work besides. Ten thousand tables take less. nil: none.
    public var schemaBytes: Int? { statementBytes > 0 ? statementBytes / 8 : nil }
    /// What nearly every statement needs less than.
    static let shareBytes = 1 << 20

    /// All as above.
    public init() {}
}

extension SQLiteLibrary {
    /// Sets the limits for the whole process. What the page caches may take comes on top: pages are read for one statement
    /// and stay for all.
    public static func limitMemory(_ limits: MemoryLimits, connections: Int, cacheKibibytes: Int) {
        // A page in the cache takes its size and a header; a tenth more covers small pages.
        let cache = Int64(cacheKibibytes) * 1024 / 10 * 11
        walpool_heap_limit(
            limits.statementBytes > 0 ? Int64(limits.statementBytes) + cache : .max,
            limits.totalBytes > 0 ? Int64(limits.totalBytes) + cache * Int64(connections) : .max,
            Int64(MemoryLimits.shareBytes))
    }

    /// The calling thread turns to another statement, event or client: its memory counts from here.
    @inlinable
    public static func beginWork() { walpool_heap_begin() }

    /// What the calling thread does now is the daemon's own: no client's memory limit may make it fail.
    public static func beginOwnWork() { walpool_heap_begin_limited(.max) }

    /// The calling thread ends, or is done with SQLite: what it allocated or freed is in the total from now on.
    public static func endWork() { walpool_heap_end() }

    /// Whether the calling thread was refused memory since this was last asked. Where SQLite's answer is left out because it is only
    /// wished for, this tells "there is none" from "nobody could look".
    public static func takeRefusal() -> Bool { walpool_heap_was_refused() != 0 }

    /// All connections together have more than `totalBytes`.
    public static var isBeyondLimit: Bool { walpool_heap_is_beyond_limit() != 0 }

    /// What SQLite has allocated now, to within a mebibyte for each thread.
    public static var memoryBytes: Int64 { walpool_heap_total() }

    /// Gives pages that are free in the allocator back to the kernel. Threads that allocate meanwhile may wait for it, up to 65 ms where
    /// their arena has 200 MB to give. With nothing to give it takes 0.1 ms in all, or 13 where 2.4 GB were given before.
    public static func giveFreeMemoryBack() { walpool_heap_trim() }
}
