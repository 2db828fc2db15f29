import CLinux
import Glibc

/// Processors, and how long threads have been on one: what does not move hangs.
public enum ProcessorTime {
    /// How many processors this process may use: all that there are, unless somebody has bound it to some of them.
    static var usableProcessors: Int {
        let bound = Int(walpool_usable_processors())
        return max(1, bound > 0 ? bound : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// nil when there is no such thread in this process.
    static func nanoseconds(ofThread number: Int32) -> Int64? {
        let used = walpool_processor_nanoseconds(number)
        return used < 0 ? nil : used
    }

    /// Of all threads of this process but the calling one, together. It goes down when one ends.
    public static var nanosecondsOfOtherThreads: Int64 {
        guard let directory = opendir("/proc/self/task") else { return 0 }
        defer { closedir(directory) }
        let own = walpool_thread_number()
        var sum: Int64 = 0
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard let number = Int32(name), number != own else { continue }
            sum &+= nanoseconds(ofThread: number) ?? 0
        }
        return sum
    }
}
