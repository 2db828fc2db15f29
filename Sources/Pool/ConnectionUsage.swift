/// What connections have counted since they were last asked.
package struct ConnectionUsage: Equatable, Sendable {
    /// Statements that were found in the cache.
    package var statementHits = 0
    /// Those that had to be prepared.
    package var statementMisses = 0
    /// SQLITE_DBSTATUS_CACHE_HIT, MISS and WRITE, https://www.sqlite.org/c3ref/c_dbstatus_options.html
    package var pageHits = 0
    package var pageMisses = 0
    package var pageWrites = 0

    static func += (a: inout ConnectionUsage, b: ConnectionUsage) {
        a.statementHits &+= b.statementHits
        a.statementMisses &+= b.statementMisses
        a.pageHits &+= b.pageHits
        a.pageMisses &+= b.pageMisses
        a.pageWrites &+= b.pageWrites
    }
}
