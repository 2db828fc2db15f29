import CLinux
import Glibc
import SQLite

/// SHOW MEM. SQLite's own statistics are off (they cost a lock around every allocation), so this is the allocator's and the
/// kernel's view, and what the caches may grow to.
extension Server {
    func showMemory(_ rows: inout ConsoleTable) {
        let page = Int64(getpagesize())
        let resident = Self.residentPages
        if let pages = resident {
            rows.append(["process", .init(page), .init(pages.own), .null, .init(pages.own * page)])
            // Of the program and of the database file, which is counted for each reader that has mapped it.
            rows.append(["mapped_files", .init(page), .init(pages.ofFiles), .null, .init(pages.ofFiles * page)])
        }
        var heap = walpool_heap()
        // The allocator counts as free what was given back to the kernel, too.
        if let pages = resident { heap.free = min(heap.free, UInt64(max(0, pages.own * page - Int64(heap.used)))) }
        rows.append(["heap", .init(1), .init(Int64(heap.used)), .init(Int64(heap.free)), .init(Int64(heap.used + heap.free))])
        let view = pool.view
        let cache = configuration.connection.cacheSizeKibibytes << 10
        rows.append([
            "page_caches_at_most", .init(cache), .init(view.connectionsOpen), .init(view.connectionsAtMost - view.connectionsOpen),
            .init(view.connectionsOpen * cache),
        ])
        let sessions = table.count
        rows.append(["sessions", .null, .init(sessions), .init(max(0, current { $0.maximumSessions } - sessions)), .null])
        let texts = registry.count
        rows.append(["query_texts", .null, .init(texts), .init(max(0, 2 * configuration.rememberedTexts - texts)), .null])
    }

    /// "resident: resident set size", of which "shared" are pages of files: the second and third number of /proc/self/statm,
    /// in pages, proc(5).
    static var residentPages: (own: Int64, ofFiles: Int64)? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        guard words.count > 2, let resident = Int64(words[1]), let ofFiles = Int64(words[2]) else { return nil }
        return (resident - ofFiles, ofFiles)
    }
}
