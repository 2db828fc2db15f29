import CLinux
import Glibc
import SQLite

/// SHOW MEM. SQLite's own statistics are off (they cost a lock around every allocation), so this is the allocator's and the
/// kernel's view, and what the caches may grow to.
extension Server {
    func showMemory(_ rows: inout ConsoleTable) {
        let page = Int64(sysconf(Int32(_SC_PAGESIZE)))
        if let pages = Self.residentPages {
            rows.append(["process", .init(page), .init(pages), .null, .init(pages * page)])
        }
        let heap = walpool_heap()
        rows.append(["heap", .init(1), .init(Int64(heap.used)), .init(Int64(heap.free)), .init(Int64(heap.used + heap.free))])
        let open = 1 + pool.view.readersOpen
        let cache = configuration.connection.cacheSizeKibibytes << 10
        rows.append([
            "page_caches_at_most", .init(cache), .init(open), .init(configuration.pool.readers + 1 - open), .init(open * cache),
        ])
        let sessions = table.count
        rows.append(["sessions", .null, .init(sessions), .init(max(0, current { $0.maximumSessions } - sessions)), .null])
        let texts = registry.count
        rows.append(["query_texts", .null, .init(texts), .init(max(0, 2 * configuration.rememberedTexts - texts)), .null])
    }

    /// "resident: resident set size", the second number of /proc/self/statm, in pages: proc(5).
    private static var residentPages: Int64? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int64(words[1]) : nil
    }
}
